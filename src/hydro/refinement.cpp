#include "hydro/refinement.hpp"

#include <algorithm>

#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/flagging.hpp"
#include "mesh/launch.hpp"

namespace octant::hydro {

namespace {

// Patch of one primitive variable with one ghost cell around it, in team scratch.
struct Patch {
  double* data;
  int side;  // M

  static constexpr std::size_t bytes(int side) {
    return sizeof(double) * (side + 2) * (side + 2) * (side + 2) + 64;
  }
  KOKKOS_FORCEINLINE_FUNCTION double* at(int i, int j, int k) const {
    return data + ((k + 1) * (side + 2) + j + 1) * (side + 2) + i + 1;
  }
};

constexpr int k_jeans = -1;        // code of pressure / density^2 instead of a variable
constexpr int k_stored = 1 << 10;  // added to the index of a separate field, not per mass

// Returns a primitive variable of a pack of cells.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V primitive(const double* cell, int stride, int variable,
                                        const Gas& gas) {
  const auto stored = [&](int n) { return SimdTraits<V>::load(cell + n * stride); };
  if (variable == k_density) return stored(0);
  if (variable >= k_stored) return stored(variable - k_stored);
  const V inverse = V(1.0) / stored(0);
  if (variable != k_pressure && variable != k_jeans) return stored(variable) * inverse;
  const V mx = stored(k_momentum_x), my = stored(k_momentum_y), mz = stored(k_momentum_z);
  const V kinetic = V(0.5) * ((mx * mx + my * my) + mz * mz) * inverse;
  const AnyState<V> cold = cold_state(stored(k_mass), gas);
  const V thermal = V(gas.gamma - 1.0) * cold.thermal_energy(stored(k_energy) - kinetic);
  const V pressure = cold.total_pressure(max(thermal, V(gas.pressure_floor)));
  return variable == k_pressure ? pressure : pressure * inverse * inverse;
}

// Writes a primitive variable of consecutive cells to `to`, in packs V; 1 if `from` has no data.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void read_cells(const CellPointer& from, int cells, int variable,
                                            const Gas& gas, double* to) {
  for (int i = 0; i < cells; i += SimdTraits<V>::width)
    SimdTraits<V>::store(
        to + i, from.from ? primitive<V>(from.from + i, from.stride, variable, gas) : V(1.0));
}

// Fills row (j, k) of the patch, including ghost cells across faces but not at edges and corners,
// from the boxes in and around the tile. `run`: number of consecutive cells in one box.
KOKKOS_INLINE_FUNCTION void gather_row(const Patch& patch, const TileView& view,
                                       const mesh::FieldPointers& state, int j, int k, int run,
                                       int variable, const Gas& gas) {
  const BlockRow row = view.block_row(j, k);
  const bool inside = j >= 0 && j < patch.side && k >= 0 && k < patch.side;
  double* to = patch.at(0, j, k);
  const auto read = [&](int i, int cells) OCTANT_INLINE_LAMBDA {
    const CellPointer from = view.cell(state, row, i);
    if (cells % SimdTraits<SimdDouble>::width == 0)
      read_cells<SimdDouble>(from, cells, variable, gas, to + i);
    else read_cells<double>(from, cells, variable, gas, to + i);
  };
  for (int begin = 0; begin < patch.side; begin += run) read(begin, run);
  if (!inside) return;
  for (const int i : {-1, patch.side}) read(i, 1);
}

// Cost of primitive() for one cell.
KernelCost cost_of_primitive(int variable) {
  if (variable == k_density || variable >= k_stored) return {8.0, 0.0};
  if (variable == k_pressure) return {40.0, 11.0};
  if (variable == k_jeans) return {40.0, 13.0};
  return {16.0, 2.0};
}

// Refinement test of V::width consecutive cells that start at q[0]. Compares each cell with its two
// neighbours along each axis (strides 1, `row` and `plane`) and returns the mask of the cells to
// refine.
template <class V>
struct RefinementTest {
  using P = SimdTraits<V>;
  using Mask = typename P::Mask;
  RefinementCriterion criterion;

  KOKKOS_FORCEINLINE_FUNCTION Mask operator()(const double* q, int row, int plane) const {
    const V threshold(criterion.threshold);
    switch (criterion.kind) {
      case RefinementKind::gradient: return jump(q, 1) || jump(q, row) || jump(q, plane);
      case RefinementKind::second_derivative: return curvature(q, row, plane);
      case RefinementKind::jeans: return P::load(q) < threshold;
      default: return P::load(q) > threshold;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION Mask jump(const double* q, int step) const {
    const V above = P::load(q + step), below = P::load(q - step);
    return absolute(above - below) >
           V(criterion.threshold) * (absolute(above) + absolute(below) + V(criterion.floor));
  }

  // Criterion of Löhner (1987), with his noise filter of 0.01: the square root of the ratio of
  // sums over the axes.
  KOKKOS_FORCEINLINE_FUNCTION Mask curvature(const double* q, int row, int plane) const {
    const V here = P::load(q);
    V second(0.0), first(0.0);
    for (const int step : {1, row, plane}) {
      const V after = P::load(q + step), before = P::load(q - step);
      const V above = after - here, below = here - before;
      const V noise = V(0.01) * (absolute(after) + V(2.0) * absolute(here) + absolute(before));
      const V scale = absolute(above) + absolute(below) + noise + V(criterion.floor);
      second = second + (above - below) * (above - below);
      first = first + scale * scale;
    }
    return second > V(criterion.threshold * criterion.threshold) * first;
  }

  double operations() const {
    switch (criterion.kind) {
      case RefinementKind::gradient: return 3.0 * 4.0;
      case RefinementKind::second_derivative: return 3.0 * 14.0 + 1.0;
      default: return 0.0;
    }
  }
};

// Code of the quantity that a criterion tests.
int code_of(const RefinementCriterion& criterion, const HydroOptions& options) {
  if (criterion.kind == RefinementKind::density) return k_density;
  if (criterion.kind == RefinementKind::jeans) return k_jeans;
  const bool is_of_gas = criterion.variable < options.variable_count();
  return is_of_gas ? criterion.variable : k_stored + criterion.variable;
}

}  // namespace

void flag_cells(const HydroOptions& options, const mesh::TileSet& tiles,
                const mesh::FieldPointers& current,
                const std::vector<RefinementCriterion>& criteria, int buffer,
                const mesh::DeviceArray<std::uint64_t>& masks) {
  if (tiles.count() == 0) return;
  constexpr int width = SimdTraits<SimdDouble>::width;
  const Gas gas = options.gas();
  const int M = tiles.patch, N = tiles.block_size, run = std::min(M, N);
  for (const RefinementCriterion& criterion : criteria) {
    const RefinementTest<double> test{criterion};
    const RefinementTest<SimdDouble> test_pack{criterion};
    const int variable = code_of(criterion, options);
    KernelCost cost = cost_of_primitive(variable);
    cost.operations += test.operations();
    mesh::for_tasks(
        {"flag cells", cost}, tiles.count(),
        {.near_scratch = Patch::bytes(M), .items = std::int64_t{M} * M * M},
        KOKKOS_LAMBDA(const mesh::TaskTeam& team) {
          const TileView view(tiles, team.league_rank());
          const Patch patch{static_cast<double*>(
                                team.team_scratch(0).get_shmem_aligned(Patch::bytes(M) - 64, 64)),
                            M};
          const int across = M + 2, plane = across * across;
          const int step = run % width == 0 ? width : 1;
          mesh::in_team(team, plane, [&](int n) {
            const int j = n % across - 1, k = n / across - 1;
            const bool edge = (j < 0 || j == M) && (k < 0 || k == M);
            if (!edge) gather_row(patch, view, current, j, k, run, variable, gas);
          });
          team.team_barrier();
          mesh::in_team(team, M * M, [&](int n) {
            const int j = n % M, k = n / M;
            const BlockRow row = view.block_row(j, k);
            const unsigned y = mesh::octants_near(row.j, buffer, N / 2);
            const unsigned z = mesh::octants_near(row.k, buffer, N / 2);
            for (int begin = 0; begin < M; begin += run) {
              const int slot = view.entry(row, begin);
              if (slot < 0 || view.box(slot).buffer != mesh::k_own) continue;
              unsigned x = 0;
              for (int first = 0; first < run; first += step) {
                if (step > 1 && !any(test_pack(patch.at(begin + first, j, k), across, plane)))
                  continue;
                for (int i = first; i < first + step; ++i)
                  if (test(patch.at(begin + i, j, k), across, plane))
                    x |= mesh::octants_near((begin + i + view.tile().origin[0]) & (N - 1), buffer,
                                            N / 2);
              }
              if (x) Kokkos::atomic_fetch_or(&masks(slot), mesh::octant_mask(x, y, z));
            }
          });
        });
  }
}

}  // namespace octant::hydro
