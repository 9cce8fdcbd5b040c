#include "radiation/moment_transport.hpp"

#include <algorithm>

#include "mesh/launch.hpp"
#include "mesh/tile_cells.hpp"
#include "radiation/closure.hpp"

namespace octant::radiation {

namespace {

using mesh::TaskTeam;

constexpr int k_width = SimdTraits<SimdDouble>::width;

// Scratch memory of a tile of M^3 cells: E, the reduced flux f = F / (c E) and the extinction
// (absorption and scattering per length) with ghost cells, and the sums of the fluxes into cells.
template <int M>
class Scratch {
 public:
  static constexpr int across = M + 2 * k_reach, plane = across * across;
  enum { extinction = k_moments, variables };
  static constexpr int stride = plane * across;

  static constexpr std::size_t bytes() { return sizeof(double) * doubles + alignment; }

  template <class Team>
  KOKKOS_FORCEINLINE_FUNCTION explicit Scratch(const Team& team)
      : base_(static_cast<double*>(
            team.team_scratch(1).get_shmem_aligned(sizeof(double) * doubles, alignment))) {}

  // Address of variable 0 of cell (i, j, k); variable n is n * stride further.
  KOKKOS_FORCEINLINE_FUNCTION double* cell(int i, int j, int k) const {
    return base_ + (k + k_reach) * plane + (j + k_reach) * across + i + k_reach;
  }
  // Address of the change of moment n in row (j, k).
  KOKKOS_FORCEINLINE_FUNCTION double* change(int n, int j, int k) const {
    return base_ + variables * stride + margin + ((n * M + k) * M + j) * M;
  }

 private:
  static constexpr int alignment = 64;
  static constexpr int margin = 2 * k_width;  // packs along x may begin in the last cell of a row
  static constexpr int doubles = variables * stride + margin + k_moments * M * M * M;
  double* base_;
};

// Limited slope of the monotonised central difference (van Leer 1977).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V limited_slope(const V& below, const V& here, const V& above) {
  const V left = here - below, right = above - here;
  const V centre = V(0.5) * (left + right);
  const V twice = V(2.0) * select(absolute(left) < absolute(right), left, right);
  const V smaller = select(absolute(twice) < absolute(centre), twice, centre);
  return select(left * right > V(0.0), smaller, V(0.0));
}

// One stage on the cells of a tile.
template <int M>
class TileStage {
 public:
  KOKKOS_FORCEINLINE_FUNCTION TileStage(const TransportStage& stage, const TaskTeam& team)
      : a_(stage), team_(team), view_(stage.tiles, team.league_rank()), scratch_(team) {}

  KOKKOS_INLINE_FUNCTION void run() const {
    gather();
    team_.team_barrier();
    add_fluxes_along_x();
    team_.team_barrier();
    add_fluxes_across<1>();
    team_.team_barrier();
    add_fluxes_across<2>();
    team_.team_barrier();
    add_to_registers();
    update();
  }

 private:
  using Tile = Scratch<M>;

  // Reads the cells of the tile and the ghost cells across its faces.
  KOKKOS_INLINE_FUNCTION void gather() const {
    constexpr int across = Tile::across;
    const int run = run_of_cells();
    mesh::in_team(team_, across * across, [&](int n) {
      const int j = n % across - k_reach, k = n / across - k_reach;
      const bool beyond_j = j < 0 || j >= M, beyond_k = k < 0 || k >= M;
      if (beyond_j && beyond_k) return;
      const mesh::BlockRow row = view_.block_row(j, k);
      for (int i = 0; i < M; i += run) read_cells(row, i, j, k, run);
      if (beyond_j || beyond_k) return;
      for (int i = 1; i <= k_reach; ++i) {
        read_cells(row, -i, j, k, 1);
        read_cells(row, M - 1 + i, j, k, 1);
      }
    });
  }

  // Number of consecutive cells along x in one box.
  KOKKOS_FORCEINLINE_FUNCTION int run_of_cells() const {
    return a_.tiles.block_size < M ? a_.tiles.block_size : M;
  }

  KOKKOS_FORCEINLINE_FUNCTION void read_cells(const mesh::BlockRow& row, int i, int j, int k,
                                              int cells) const {
    const mesh::CellPointer from = view_.cell(a_.current, row, i);
    double* const to = scratch_.cell(i, j, k);
    if (cells % k_width == 0)
      for (int c = 0; c < cells; c += k_width) read_pack<SimdDouble>(from, c, to + c);
    else
      for (int c = 0; c < cells; ++c) read_pack<double>(from, c, to + c);
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void read_pack(const mesh::CellPointer& from, int cell,
                                             double* to) const {
    using P = SimdTraits<V>;
    Moments<V> w{{V(1.0), V(0.0), V(0.0), V(0.0)}};
    V extinction(0.0);
    if (from.from) {
      const double* const moments = from.from + cell + a_.first * from.stride;
      w[k_energy_density] = max(P::load(moments), V(k_dark));
      const V per_energy = V(1.0) / (V(a_.matter.light.c) * w[k_energy_density]);
      for (int n = k_flux_x; n < k_moments; ++n)
        w[n] = P::load(moments + n * from.stride) * per_energy;
      limit_reduced_flux(w);
      extinction = a_.matter.extinction<V>(from.from + cell, from.stride);
    }
    for (int n = 0; n < k_moments; ++n) P::store(to + n * Tile::stride, w[n]);
    P::store(to + Tile::extinction * Tile::stride, extinction);
  }

  // States at the lower and upper faces of cells along an axis.
  template <class V>
  struct FaceStates {
    Moments<V> lower, upper;
  };

  static constexpr int step_along(int axis) {
    return axis == 0 ? 1 : axis == 1 ? Tile::across : Tile::plane;
  }

  // Linear reconstruction of the cells that begin at q.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION static FaceStates<V> reconstruct(const double* q) {
    using P = SimdTraits<V>;
    constexpr int step = step_along(Axis);
    FaceStates<V> states;
    for (int n = 0; n < k_moments; ++n) {
      const double* const at = q + n * Tile::stride;
      const V here = P::load(at);
      const V half = V(0.5) * limited_slope(P::load(at - step), here, P::load(at + step));
      states.lower[n] = here - half;
      states.upper[n] = here + half;
    }
    limit_reduced_flux(states.lower);
    limit_reduced_flux(states.upper);
    return states;
  }

  // Flux through the lower faces along an axis of the cells that begin at q, in units of the
  // reduced speed of light.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION Moments<V> flux_through(const double* q, const Moments<V>& below,
                                                      const Moments<V>& above) const {
    using P = SimdTraits<V>;
    const double* const extinction = q + Tile::extinction * Tile::stride;
    const V depth = V(a_.dx) * min(P::load(extinction - step_along(Axis)), P::load(extinction));
    return flux_between(Axis, below, above, depth);
  }

  // The same flux of a single face.
  template <int Axis>
  KOKKOS_FORCEINLINE_FUNCTION Moments<double> flux_below(const double* q) const {
    return flux_through<Axis>(q, reconstruct<Axis, double>(q - step_along(Axis)).upper,
                              reconstruct<Axis, double>(q).lower);
  }

  // Sets the changes of the cells to the fluxes through their faces along x.
  KOKKOS_INLINE_FUNCTION void add_fluxes_along_x() const {
    using P = SimdTraits<SimdDouble>;
    constexpr int cells = M + 2 * k_width;
    mesh::in_team(team_, M * M, [&](int row) {
      const int j = row % M, k = row / M;
      // States of cell i - 1 at its upper, and of cell i at its lower face.
      double below[k_moments][cells], above[k_moments][cells], flux[k_moments][cells];
      for (int i = -1; i <= M; i += k_width) {
        const auto states = reconstruct<0, SimdDouble>(scratch_.cell(i, j, k));
        for (int n = 0; n < k_moments; ++n) {
          P::store(below[n] + i + 1, states.upper[n]);
          if (i < 0) {
            for (int lane = 1; lane < k_width; ++lane)
              above[n][lane - 1] = P::lane(states.lower[n], lane);
          } else {
            P::store(above[n] + i, states.lower[n]);
          }
        }
      }
      for (int i = 0; i <= M; i += k_width) {
        Moments<SimdDouble> left, right;
        for (int n = 0; n < k_moments; ++n) {
          left[n] = P::load(below[n] + i);
          right[n] = P::load(above[n] + i);
        }
        const auto pack = flux_through<0>(scratch_.cell(i, j, k), left, right);
        for (int n = 0; n < k_moments; ++n) P::store(flux[n] + i, pack[n]);
      }
      for (int n = 0; n < k_moments; ++n) {
        double* const change = scratch_.change(n, j, k);
        for (int i = 0; i < M; ++i) change[i] = flux[n][i] - flux[n][i + 1];
      }
    });
  }

  // Adds the fluxes through the faces along y or z, from face to face.
  template <int Axis>
  KOKKOS_INLINE_FUNCTION void add_fluxes_across() const {
    using P = SimdTraits<SimdDouble>;
    mesh::in_team(team_, M * (M / k_width), [&](int column) {
      const int other = column % M, i = column / M * k_width;
      const auto cell = [&](int along) {
        return Axis == 1 ? scratch_.cell(i, along, other) : scratch_.cell(i, other, along);
      };
      double* const first =
          (Axis == 1 ? scratch_.change(0, 0, other) : scratch_.change(0, other, 0)) + i;
      constexpr int step = Axis == 1 ? M : M * M;
      Moments<SimdDouble> below = reconstruct<Axis, SimdDouble>(cell(-1)).upper, last;
      for (int face = 0; face <= M; ++face) {
        const auto states = reconstruct<Axis, SimdDouble>(cell(face));
        const auto flux = flux_through<Axis>(cell(face), below, states.lower);
        for (int n = 0; n < k_moments && face > 0; ++n) {
          double* const change = first + n * M * M * M + (face - 1) * step;
          P::store(change, P::load(change) + (last[n] - flux[n]));
        }
        last = flux;
        below = states.upper;
      }
    });
  }

  // Factor from the fluxes and changes of a moment to those of its variable, per reduced speed of
  // light.
  KOKKOS_FORCEINLINE_FUNCTION double unit_of(int moment) const {
    return moment == k_energy_density ? 1.0 : a_.matter.light.c;
  }

  // Adds fluxes to the registers of coarse-fine boundaries and of the domain's boundaries.
  KOKKOS_INLINE_FUNCTION void add_to_registers() const {
    if (!a_.registers) return;
    for (int r = view_.tile().request_begin; r < view_.tile().request_end; ++r) {
      const mesh::FluxRequest& request = a_.tiles.requests(r);
      const int step = request.average ? 2 : 1;
      const int along_a = (request.a_end - request.a_begin) / step;
      const int faces = along_a * ((request.b_end - request.b_begin) / step);
      mesh::in_team(team_, faces, [&](int n) {
        const int a = n % along_a, b = n / along_a;
        const Moments<double> flux =
            mean_flux(request, request.a_begin + a * step, request.b_begin + b * step, step);
        double* const to = a_.registers + request.base + std::int64_t{b} * request.stride_b + a +
                           static_cast<std::int64_t>(a_.first) * request.stride_variable;
        for (int m = 0; m < k_moments; ++m)
          to[static_cast<std::int64_t>(m) * request.stride_variable] +=
              a_.flux_weight * a_.matter.light.reduced * unit_of(m) * flux[m];
      });
    }
  }

  // Mean flux through the `step`^2 faces that begin at (a, b).
  KOKKOS_INLINE_FUNCTION Moments<double> mean_flux(const mesh::FluxRequest& request, int a, int b,
                                                   int step) const {
    const auto face = [&](int da, int db) {
      const int x = a + da, y = b + db, p = request.plane;
      if (request.axis == 0) return flux_below<0>(scratch_.cell(p, x, y));
      if (request.axis == 1) return flux_below<1>(scratch_.cell(x, p, y));
      return flux_below<2>(scratch_.cell(x, y, p));
    };
    if (step == 1) return face(0, 0);
    const Moments<double> f[4] = {face(0, 0), face(1, 0), face(0, 1), face(1, 1)};
    Moments<double> mean;
    for (int n = 0; n < k_moments; ++n)
      mean[n] = ((f[0][n] + f[1][n]) + (f[2][n] + f[3][n])) * 0.25;
    return mean;
  }

  // Writes the new states of the cells that this rank owns.
  KOKKOS_INLINE_FUNCTION void update() const {
    const int run = run_of_cells();
    mesh::in_team(team_, M * M, [&](int n) {
      const int j = n % M, k = n / M;
      const mesh::BlockRow row = view_.block_row(j, k);
      for (int i = 0; i < M; i += run) {
        const int holder = view_.entry(row, i);
        if (holder < 0 || view_.box(holder).buffer != mesh::k_own) continue;
        update_cells(view_.offset(row, holder, i), view_.box(holder).stride_variable,
                     scratch_.change(0, j, k) + i, run);
      }
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void update_cells(std::int64_t offset, int stride,
                                                const double* change, int cells) const {
    if (cells % k_width == 0)
      for (int c = 0; c < cells; c += k_width)
        update_pack<SimdDouble>(offset + c, stride, change + c);
    else
      for (int c = 0; c < cells; ++c) update_pack<double>(offset + c, stride, change + c);
    if (!a_.matter.interacts) return;
    for (int c = 0; c < cells; ++c)
      exchange_with_gas(hydro::GasCell(a_.next + offset + c, stride, a_.matter.gas));
  }

  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void update_pack(std::int64_t offset, int stride,
                                               const double* change) const {
    using P = SimdTraits<V>;
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

  // Limits the flux F to c E.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION void limit_flux(Moments<V>& u) const {
    const V square = square_of_flux(u), most = V(a_.matter.light.c) * u[k_energy_density];
    const auto exceeds = square > most * most;
    if (!any(exceeds)) return;
    const V scale = select(exceeds, most / square_root(square), V(1.0));
    for (int n = k_flux_x; n < k_moments; ++n) u[n] = scale * u[n];
  }

  KOKKOS_FORCEINLINE_FUNCTION void exchange_with_gas(const hydro::GasCell& gas) const {
    const double density = gas.density();
    RadiatingCell cell{.density = density,
                       .momentum = {},
                       .internal = density * gas.internal_energy(),
                       .energy = gas[a_.first],
                       .flux = {}};
    for (int d = 0; d < 3; ++d) {
      cell.momentum[d] = gas[hydro::k_momentum_x + d];
      cell.flux[d] = gas[a_.first + k_flux_x + d];
    }
    const RadiatingCell before = cell;
    const int iterations =
        exchange(cell, a_.matter.light, a_.matter.material, a_.matter.opacity, a_.a1 * a_.dt);
    if (iterations < 0 && a_.unsolved) Kokkos::atomic_inc(a_.unsolved);
    double push[3], work = 0.0;
    for (int d = 0; d < 3; ++d) {
      push[d] = cell.momentum[d] - before.momentum[d];
      work += push[d] * (cell.momentum[d] + before.momentum[d]);
      gas[a_.first + k_flux_x + d] = cell.flux[d];
    }
    gas[a_.first] = cell.energy;
    gas.add(0.0, push, (cell.internal - before.internal) + 0.5 * work / density);
  }

  const TransportStage& a_;
  const TaskTeam& team_;
  mesh::TileCells view_;
  Tile scratch_;
};

template <int M>
void advance_tiles(const TransportStage& stage) {
  const TransportStage a = stage;
  // Cost of a cell: 4 moments and the gas are read and written; reconstruction, closure and solver
  // for three faces.
  const KernelCost cost{a.matter.interacts ? 200.0 : 96.0, 3.0 * 190.0};
  mesh::for_tasks(
      {"radiation transport", cost}, a.tiles.count(),
      {.scratch = Scratch<M>::bytes(), .items = std::int64_t{M} * M * M},
      KOKKOS_LAMBDA(const TaskTeam& team) { TileStage<M>(a, team).run(); });
}

}  // namespace

void advance(const TransportStage& stage) {
  if (stage.tiles.patch == 8) advance_tiles<8>(stage);
  else advance_tiles<16>(stage);
}

}  // namespace octant::radiation
