#include "radiation/moment_transport.hpp"

#include <type_traits>

#include "core/wide_simd.hpp"
#include "radiation/closure.hpp"
#include "radiation/face_flux.hpp"
#include "radiation/transport_tile.hpp"

namespace octant::radiation {

namespace {

using mesh::TaskTeam;

constexpr int k_lines = SimdTraits<WideDouble>::width;  // number of lines of cells in a pack
// Variables in scratch memory: E, the reduced flux f = F / (c E), and the extinction (absorption
// and scattering per length). Changes are the sums of the fluxes into cells.
constexpr int k_extinction = k_moments, k_variables = k_moments + 1;
template <int M>
using Scratch = TransportScratch<M, k_reach, k_variables, k_moments>;

// Copies `Rows` rows of `Columns` numbers from a row-major to a column-major matrix.
template <int Rows, int Columns>
KOKKOS_FORCEINLINE_FUNCTION void transpose(const double* from, int from_row, double* to,
                                           int to_column) {
  for (int r = 0; r < Rows; r += SimdTraits<SimdDouble>::width)
    for (int c = 0; c < Columns; c += SimdTraits<SimdDouble>::width)
      transpose_square(from + r * from_row + c, from_row, to + c * to_column + r, to_column);
}

// One stage on the cells of a tile.
template <int M>
class TileStage : public TransportTile<TileStage<M>, M, Scratch<M>> {
  using Base = TransportTile<TileStage<M>, M, Scratch<M>>;
  using Tile = Scratch<M>;
  using Base::a_, Base::team_, Base::scratch_;
  using Base::step_along, Base::unit_of;

 public:
  using Base::Base;

  KOKKOS_INLINE_FUNCTION void run() const {
    this->gather();
    team_.team_barrier();
    add_fluxes_along_x();
    team_.team_barrier();
    add_fluxes_across<1>();
    team_.team_barrier();
    add_fluxes_across<2>();
    team_.team_barrier();
    this->add_to_registers();
    this->update();
  }

  // Reads cells.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void read_pack(const mesh::CellPointer& from, int cell, bool dark,
                                             double* to) const {
    using P = SimdTraits<V>;
    Moments<V> w{{V(k_dark), V(0.0), V(0.0), V(0.0)}};
    if (!dark) {
      const double* const moments = from.from + cell + a_.first * from.stride;
      w[k_energy_density] = max(P::load(moments), V(k_dark));
      const V per_energy = V(1.0) / (V(a_.matter.light.c) * w[k_energy_density]);
      for (int n = k_flux_x; n < k_moments; ++n)
        w[n] = P::load(moments + n * from.stride) * per_energy;
      limit_reduced_flux(w);
    }
    for (int n = 0; n < k_moments; ++n) P::store(to + n * Tile::stride, w[n]);
    using Part = std::conditional_t<P::width == 1, double, SimdDouble>;
    for (int c = 0; c < P::width; c += SimdTraits<Part>::width)
      read_extinction<Part>(from, cell + c, dark, to + c);
  }

  // Flux through the lower face of the cell at q.
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION Moments<double> flux_below(const double* q) const {
    constexpr int step = step_along(Axis), stride = Tile::stride;
    return flux_through<Axis, double, step, stride>(
        q, reconstruct<double, step, stride>(q - step).upper,
        reconstruct<double, step, stride>(q).lower);
  }

  // Writes the new moments of own cells, and of the gas if it interacts, before the exchange.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void update_pack(std::int64_t offset, int stride, int i, int j,
                                               int k) const {
    using P = SimdTraits<V>;
    const double* const change = scratch_.change(0, j, k) + i;
    const double* const from = a_.current.buffer[mesh::k_own] + offset;
    const double* const old = a_.old + offset;
    double* const to = a_.next + offset;
    const auto blend = [&](int variable, const V& advanced) {
      const V stage = V(a_.a1) * advanced;
      return a_.a0 == 0.0 ? stage : V(a_.a0) * P::load(old + variable * stride) + stage;
    };
    const double ratio = a_.dt * a_.matter.light.reduced / a_.dx;
    Moments<V> u;
    for (int n = 0; n < k_moments; ++n)
      u[n] = blend(a_.first + n, P::load(from + (a_.first + n) * stride) +
                                     V(ratio * unit_of(n)) * P::load(change + n * M * M * M));
    u[k_energy_density] = max(u[k_energy_density], V(k_dark));
    limit_flux(u);
    for (int n = 0; n < k_moments; ++n) P::store(to + (a_.first + n) * stride, u[n]);
    if (!a_.matter.interacts) return;
    const int gas_variables = hydro::k_hydro_variables + a_.matter.gas.dual_energy;
    for (int n = 0; n < gas_variables; ++n)
      P::store(to + n * stride, blend(n, P::load(from + n * stride)));
  }

  // Exchanges energy and momentum between gas and radiation.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void act_on_pack(std::int64_t offset, int stride) const {
    if (a_.matter.interacts)
      exchange_with_gas(hydro::GasCells<V>(a_.next + offset, stride, a_.matter.gas));
  }

 private:
  // Reads the extinction of cells.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void read_extinction(const mesh::CellPointer& from, int cell,
                                                   bool dark, double* to) const {
    V extinction(0.0);
    if (from.from) extinction = a_.matter.template extinction<V>(from.from + cell, from.stride);
    if (dark) extinction = V(0.5) * extinction;  // radiation vanishes at the face already
    SimdTraits<V>::store(to + k_extinction * Tile::stride, extinction);
  }

  // States at the lower and upper faces of cells along an axis.
  template <class V>
  struct FaceStates {
    FaceState<V> lower, upper;
  };

  // Linear reconstruction of the cells that begin at q. Neighbours are `Step` numbers apart, and
  // variables `Stride` numbers.
  template <class V, int Step, int Stride>
  KOKKOS_FORCEINLINE_FUNCTION static FaceStates<V> reconstruct(const double* q) {
    using P = SimdTraits<V>;
    FaceStates<V> states;
    for (int n = 0; n < k_moments; ++n) {
      const double* const at = q + n * Stride;
      const V here = P::load(at);
      const V half = half_limited_slope(P::load(at - Step), here, P::load(at + Step));
      states.lower.of[n] = here - half;
      states.upper.of[n] = here + half;
    }
    states.lower.square = limit_reduced_flux(states.lower.of);
    states.upper.square = limit_reduced_flux(states.upper.of);
    return states;
  }

  // Flux through the lower faces along an axis of the cells that begin at q, in units of the
  // reduced speed of light.
  template <int Axis, class V, int Step, int Stride>
  KOKKOS_FORCEINLINE_FUNCTION Moments<V> flux_through(const double* q, const FaceState<V>& below,
                                                      const FaceState<V>& above) const {
    using P = SimdTraits<V>;
    const double* const extinction = q + k_extinction * Stride;
    const V depth = V(a_.dx) * min(P::load(extinction - Step), P::load(extinction));
    return flux_between(Axis, below, above, depth);
  }

  // Fluxes along an axis through the faces of a line of M cells that begins at q, from face to
  // face. Calls save(cell, n, flux into the cell) for each cell and moment n.
  template <int Axis, int Step, int Stride, class Save>
  KOKKOS_FORCEINLINE_FUNCTION void sweep_line(const double* q, const Save& save) const {
    using V = WideDouble;
    FaceState<V> below = reconstruct<V, Step, Stride>(q - Step).upper;
    Moments<V> last;
    for (int face = 0; face <= M; ++face, q += Step) {
      const auto states = reconstruct<V, Step, Stride>(q);
      const Moments<V> flux = flux_through<Axis, V, Step, Stride>(q, below, states.lower);
      for (int n = 0; n < k_moments && face > 0; ++n) save(face - 1, n, last[n] - flux[n]);
      last = flux;
      below = states.upper;
    }
  }

  // Sets the changes of the cells to the fluxes through their faces along x. On a CPU, the rows of
  // a pack are transposed in a buffer.
  KOKKOS_INLINE_FUNCTION void add_fluxes_along_x() const {
    using P = SimdTraits<WideDouble>;
    mesh::in_team(team_, M * (M / k_lines), [&](int pack) {
      const int j = pack / M * k_lines, k = pack % M;
      if constexpr (k_lines == 1) {
        double* const to = scratch_.change(0, j, k);
        sweep_line<0, 1, Tile::stride>(scratch_.cell(0, j, k),
                                       [&](int i, int n, const WideDouble& change) {
                                         P::store(to + n * M * M * M + i, change);
                                       });
      } else {
        constexpr int across = Tile::across;
        double cells[k_variables * across * k_lines], changes[k_moments * M * k_lines];
        for (int n = 0; n < k_variables; ++n)
          transpose<k_lines, across>(scratch_.cell(-k_reach, j, k) + n * Tile::stride, across,
                                     cells + n * across * k_lines, k_lines);
        sweep_line<0, k_lines, across * k_lines>(
            cells + k_reach * k_lines, [&](int i, int n, const WideDouble& change) {
              P::store(changes + (n * M + i) * k_lines, change);
            });
        for (int n = 0; n < k_moments; ++n)
          transpose<M, k_lines>(changes + n * M * k_lines, k_lines, scratch_.change(n, j, k), M);
      }
    });
  }

  // Adds the fluxes through the faces along y or z.
  template <int Axis>
  KOKKOS_INLINE_FUNCTION void add_fluxes_across() const {
    using P = SimdTraits<WideDouble>;
    mesh::in_team(team_, M * (M / k_lines), [&](int column) {
      const int other = column * k_lines / M, i = column * k_lines % M;
      const double* const q = Axis == 1 ? scratch_.cell(i, 0, other) : scratch_.cell(i, other, 0);
      double* const to =
          (Axis == 1 ? scratch_.change(0, 0, other) : scratch_.change(0, other, 0)) + i;
      constexpr int step = Axis == 1 ? M : M * M;
      sweep_line<Axis, step_along(Axis), Tile::stride>(
          q, [&](int along, int n, const WideDouble& change) {
            double* const at = to + n * M * M * M + along * step;
            P::store(at, P::load(at) + change);
          });
    });
  }

  // Limits the flux F to c E.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void limit_flux(Moments<V>& u) const {
    const V square = square_of_flux(u), most = V(a_.matter.light.c) * u[k_energy_density];
    const auto exceeds = square > most * most;
    if (!any(exceeds)) return;
    const V scale = select(exceeds, most / square_root(square), V(1.0));
    for (int n = k_flux_x; n < k_moments; ++n) u[n] = scale * u[n];
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void exchange_with_gas(const hydro::GasCells<V>& gas) const {
    const V density = gas.density(), pressure = gas.thermal_pressure();
    RadiatingCells<V> cells{.density = density,
                            .momentum = {},
                            .internal = density * gas.internal_energy(pressure),
                            .energy = gas.load(a_.first),
                            .flux = {},
                            .surroundings = a_.matter.surroundings(density)};
    for (int d = 0; d < 3; ++d) {
      cells.momentum[d] = gas.load(hydro::k_momentum_x + d);
      cells.flux[d] = gas.load(a_.first + k_flux_x + d);
    }
    const RadiatingCells<V> before = cells;
    count_unsolved(
        exchange(cells, a_.matter.light, a_.matter.material, a_.matter.opacity, a_.a1 * a_.dt));
    V push[3], work(0.0);
    for (int d = 0; d < 3; ++d) {
      push[d] = cells.momentum[d] - before.momentum[d];
      work = work + push[d] * (cells.momentum[d] + before.momentum[d]);
      gas.store(a_.first + k_flux_x + d, cells.flux[d]);
    }
    gas.store(a_.first, cells.energy);
    add_to_gas(gas, pressure, push, cells.internal - before.internal, V(0.5) * work / density);
  }

  // Counts the cells whose exchange had this negative outcome.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void count_unsolved(const V& outcome) const {
    using P = SimdTraits<V>;
    if (!a_.unsolved || !any(outcome < V(0.0))) return;
    for (int lane = 0; lane < P::width; ++lane)
      if (P::lane(outcome, lane) < 0.0) Kokkos::atomic_inc(a_.unsolved);
  }

  // Adds momentum, heat and kinetic energy to gas with this thermal pressure.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void add_to_gas(const hydro::GasCells<V>& gas,
                                              const V& thermal_pressure, const V (&push)[3],
                                              const V& heat, const V& work) const {
    const double per_heat = a_.matter.gas.gamma - 1.0;
    const V heated = thermal_pressure + V(per_heat) * heat;
    const V pressure = max(heated, V(a_.matter.gas.pressure_floor));
    for (int d = 0; d < 3; ++d) {
      const int momentum = hydro::k_momentum_x + d;
      gas.store(momentum, gas.load(momentum) + push[d]);
    }
    const V raised = (pressure - heated) / V(per_heat);
    gas.store(hydro::k_energy, gas.load(hydro::k_energy) + (heat + work + raised));
    if (a_.matter.gas.dual_energy)
      gas.store(hydro::k_entropy, pressure / power(gas.density(), per_heat));
  }
};

template <int M>
void advance_tiles(const TransportStage& stage) {
  // Cost of a cell: 4 moments and the gas are read and written; reconstruction, closure and solver
  // for three faces.
  const KernelCost cost{stage.matter.interacts ? 200.0 : 96.0, 3.0 * 180.0};
  mesh::for_tasks(
      {"radiation transport", cost}, stage.tiles.count(),
      {.scratch = Scratch<M>::bytes(), .items = std::int64_t{M} * M * M},
      KOKKOS_LAMBDA(const TaskTeam& team) { TileStage<M>(stage, team).run(); });
}

}  // namespace

void advance(const TransportStage& stage) {
  if (stage.tiles.patch == 8) advance_tiles<8>(stage);
  else advance_tiles<16>(stage);
}

}  // namespace octant::radiation
