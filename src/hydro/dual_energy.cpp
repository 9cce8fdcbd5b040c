#include "hydro/dual_energy.hpp"

#include "hydro/euler.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

namespace {

// Of density times the square of how much the velocity changes from cell to cell: internal energy
// below this share is truncation error of the kinetic one, also where the gas hardly moves.
constexpr double k_change_threshold = 0.1;

// Where a cell lies in its block.
struct PlaceInBlock {
  int index[3], strides[3], size;
};

// By how much the velocity along an axis changes steadily from cell to cell around this one: the
// smaller one of two differences within the block. At the foot of a shock one of them vanishes.
KOKKOS_INLINE_FUNCTION double steady_change(const double* cell, int stride_variable,
                                            const PlaceInBlock& place, int axis) {
  const int first = Kokkos::clamp(place.index[axis] - 1, 0, place.size > 2 ? place.size - 3 : 0);
  const double* from = cell + (first - place.index[axis]) * place.strides[axis];
  const auto velocity = [&](int n) {
    const double* at = from + n * place.strides[axis];
    return at[(k_momentum_x + axis) * stride_variable] / at[k_mass * stride_variable];
  };
  const double lower = Kokkos::abs(velocity(1) - velocity(0));
  if (place.size == 2) return lower;
  return Kokkos::min(lower, Kokkos::abs(velocity(2) - velocity(1)));
}

KOKKOS_INLINE_FUNCTION bool is_truncation_error(const double* cell, int stride_variable,
                                                const PlaceInBlock& place, double energy) {
  double squares = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    const double change = steady_change(cell, stride_variable, place, axis);
    squares += change * change;
  }
  return energy < k_change_threshold * cell[k_mass * stride_variable] * squares;
}

KOKKOS_INLINE_FUNCTION void synchronise_cell(double* cell, int stride, const PlaceInBlock& place,
                                             bool overwrite, const Gas& gas) {
  const State<double> u = load_state<double>(cell, stride);
  double& entropy = cell[k_entropy * stride];
  double volume;
  const State<double> w = unfloored_primitive(u, gas, volume);
  const double scale = power(w[k_density], gas.gamma - 1.0);  // pressure over entropy density
  const double internal = w[k_pressure] / (gas.gamma - 1.0);
  const bool keep_entropy = entropy_rules(w[k_pressure], u[k_energy], gas) ||
                            (overwrite && is_truncation_error(cell, stride, place, internal));
  if (!keep_entropy) entropy = w[k_pressure] / scale;
  else if (overwrite)
    cell[k_energy * stride] = u[k_energy] - internal + entropy * scale / (gas.gamma - 1.0);
}

}  // namespace

void synchronise_dual_energy(const HydroOptions& options, const mesh::TileSet& tiles,
                             double* blocks) {
  if (!options.has_dual_energy()) return;
  using Policy = Kokkos::TeamPolicy<>;
  const Gas gas = options.gas();
  const bool overwrite = options.dual_energy == DualEnergy::overwrite;
  const int M = tiles.patch, size = tiles.block_size;
  Kokkos::parallel_for(
      "hydro::synchronise_dual_energy", Policy(tiles.count(), Kokkos::AUTO),
      KOKKOS_LAMBDA(const Policy::member_type& team) {
        const TileView view(tiles, team.league_rank());
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, M * M), [&](int n) {
          const BlockRow row = view.block_row(n % M, n / M);
          for (int i = 0; i < M; ++i) {
            const int slot = view.entry(row, i);
            if (slot < 0 || view.box(slot).buffer != mesh::k_own) continue;
            const mesh::CellBox& box = view.box(slot);
            const std::int64_t offset = view.offset(row, slot, i);
            const auto along_x = static_cast<int>(offset - box.offset(0, row.j, row.k));
            const PlaceInBlock place{
                {along_x, row.j, row.k}, {1, box.stride_j, box.stride_k}, size};
            synchronise_cell(blocks + offset, box.stride_variable, place, overwrite, gas);
          }
        });
      });
}

}  // namespace octant::hydro
