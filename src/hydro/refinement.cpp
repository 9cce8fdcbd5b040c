#include "hydro/refinement.hpp"

#include <algorithm>

#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"
#include "mesh/flagging.hpp"

namespace octant::hydro {

namespace {

using Policy = Kokkos::TeamPolicy<>;
using Member = Policy::member_type;

// A patch of one primitive variable with one ghost cell around it, in team scratch.
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

constexpr int k_jeans = -1;  // in place of a variable: pressure / density^2

KOKKOS_FORCEINLINE_FUNCTION double primitive(const double* cell, int stride, int variable,
                                             const Gas& gas) {
  if (variable == k_density) return cell[0];
  const double inverse = 1.0 / cell[0];
  if (variable != k_pressure && variable != k_jeans) return cell[variable * stride] * inverse;
  const double mx = cell[k_momentum_x * stride], my = cell[k_momentum_y * stride],
               mz = cell[k_momentum_z * stride];
  const double kinetic = 0.5 * ((mx * mx + my * my) + mz * mz) * inverse;
  const double pressure =
      max((gas.gamma - 1.0) * (cell[k_energy * stride] - kinetic), gas.pressure_floor);
  return variable == k_pressure ? pressure : pressure * inverse * inverse;
}

// Fills row (j, k) of the patch from the boxes around the tile; beyond the patch only across faces.
KOKKOS_INLINE_FUNCTION void gather_row(const Patch& patch, const TileView& view,
                                       const mesh::FieldPointers& state, int j, int k, int run,
                                       int variable, const Gas& gas) {
  const BlockRow row = view.block_row(j, k);
  const bool inside = j >= 0 && j < patch.side && k >= 0 && k < patch.side;
  double* to = patch.at(0, j, k);
  for (int begin = 0; begin < patch.side; begin += run) {
    const CellPointer cell = view.cell(state, row, begin);
    for (int i = 0; i < run; ++i)
      to[begin + i] = cell.from ? primitive(cell.from + i, cell.stride, variable, gas) : 1.0;
  }
  if (!inside) return;
  for (const int i : {-1, patch.side}) {
    const CellPointer cell = view.cell(state, row, i);
    to[i] = cell.from ? primitive(cell.from, cell.stride, variable, gas) : 1.0;
  }
}

// Whether a cell is to be refined, by its value and the values on both sides along each axis.
struct Measure {
  RefinementCriterion criterion;

  KOKKOS_FORCEINLINE_FUNCTION bool operator()(const double* q, int row, int plane) const {
    switch (criterion.kind) {
      case RefinementKind::gradient: return jump(q, 1) || jump(q, row) || jump(q, plane);
      case RefinementKind::second_derivative: return curvature(q, row, plane);
      case RefinementKind::jeans: return q[0] < criterion.threshold;
      default: return q[0] > criterion.threshold;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION bool jump(const double* q, int step) const {
    return absolute(q[step] - q[-step]) >
           criterion.threshold * (absolute(q[step]) + absolute(q[-step]) + criterion.floor);
  }

  // Loehner (1987), with his noise filter of 0.01: the square root of the ratio of sums over the
  // axes.
  KOKKOS_FORCEINLINE_FUNCTION bool curvature(const double* q, int row, int plane) const {
    double second = 0.0, first = 0.0;
    for (const int step : {1, row, plane}) {
      const double above = q[step] - q[0], below = q[0] - q[-step];
      const double noise = 0.01 * (absolute(q[step]) + 2.0 * absolute(q[0]) + absolute(q[-step]));
      const double scale = absolute(above) + absolute(below) + noise + criterion.floor;
      second += (above - below) * (above - below);
      first += scale * scale;
    }
    return second > criterion.threshold * criterion.threshold * first;
  }
};

}  // namespace

void flag_cells(const HydroOptions& options, const mesh::TileSet& tiles,
                const mesh::FieldPointers& current,
                const std::vector<RefinementCriterion>& criteria, int buffer,
                const mesh::DeviceArray<std::uint64_t>& masks) {
  if (tiles.count() == 0) return;
  const Gas gas = options.gas();
  const int M = tiles.patch, N = tiles.block_size, run = std::min(M, N);
  for (const RefinementCriterion& criterion : criteria) {
    const Measure measure{criterion};
    const int variable = criterion.kind == RefinementKind::density ? int{k_density}
                         : criterion.kind == RefinementKind::jeans ? k_jeans
                                                                   : criterion.variable;
    Policy policy(tiles.count(), Kokkos::AUTO);
    policy.set_scratch_size(0, Kokkos::PerTeam(Patch::bytes(M)));
    Kokkos::parallel_for(
        "flag cells", policy, KOKKOS_LAMBDA(const Member& team) {
          const TileView view(tiles, team.league_rank());
          const Patch patch{static_cast<double*>(
                                team.team_scratch(0).get_shmem_aligned(Patch::bytes(M) - 64, 64)),
                            M};
          const int across = M + 2;
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, across * across), [&](int n) {
            const int j = n % across - 1, k = n / across - 1;
            const bool edge = (j < 0 || j == M) && (k < 0 || k == M);
            if (!edge) gather_row(patch, view, current, j, k, run, variable, gas);
          });
          team.team_barrier();
          Kokkos::parallel_for(Kokkos::TeamThreadRange(team, M * M), [&](int n) {
            const int j = n % M, k = n / M;
            const BlockRow row = view.block_row(j, k);
            const unsigned y = mesh::octants_near(row.j, buffer, N / 2);
            const unsigned z = mesh::octants_near(row.k, buffer, N / 2);
            for (int begin = 0; begin < M; begin += run) {
              const int slot = view.entry(row, begin);
              if (slot < 0 || view.box(slot).buffer != mesh::k_own) continue;
              unsigned x = 0;
              for (int i = 0; i < run; ++i)
                if (measure(patch.at(begin + i, j, k), across, across * across))
                  x |= mesh::octants_near((begin + i + view.tile().origin[0]) & (N - 1), buffer,
                                          N / 2);
              if (x) Kokkos::atomic_fetch_or(&masks(slot), mesh::octant_mask(x, y, z));
            }
          });
        });
  }
}

}  // namespace octant::hydro
