#include "gravity/bottom.hpp"

#include <algorithm>

#include "gravity/spread_grid.hpp"

namespace octant::gravity {

namespace {

std::int64_t active_cells(int own, const DeviceArray<double>& cover) {
  std::int64_t active = 0;
  Kokkos::parallel_reduce(
      "gravity: active cells", Kokkos::RangePolicy<>(0, 8 * own),
      KOKKOS_LAMBDA(const int n, std::int64_t& count) { count += cover(n) > 0.5 ? 1 : 0; }, active);
  return active;
}

bool is_spread(const LevelPatches& patches, const DeviceArray<double>& cover,
               std::int64_t gathered) {
  for (const auto extent : patches.extent())
    if (extent % 2 != 0) return false;
  const std::int64_t active = patches.communicator().sum(active_cells(patches.own(), cover));
  return active > std::max(gathered, CoarseSolver::k_few_cells);
}

}  // namespace

Bottom::Bottom(const LevelPatches& patches, bool finest, const BottomCells& cells,
               const CommOptions& options, std::int64_t gathered) {
  if (!finest && is_spread(patches, cells.cover, gathered))
    spread_ = std::make_unique<SpreadGrid>(patches, cells, options, gathered);
  else gathered_ = std::make_unique<GatheredGrid>(patches, finest, cells, options);
}

Bottom::~Bottom() = default;

void Bottom::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  if (spread_) spread_->solve(f, phi);
  else gathered_->solve(f, phi);
}

std::int64_t Bottom::bytes() const { return spread_ ? spread_->bytes() : gathered_->bytes(); }

int Bottom::spread_grids() const { return spread_ ? spread_->spread_grids() : 0; }

}  // namespace octant::gravity
