#include "gravity/bottom.hpp"

#include <algorithm>

#include "core/residency.hpp"
#include "gravity/spread_grid.hpp"

namespace octant::gravity {

namespace {

bool is_spread(const LevelPatches& patches, const DeviceArray<double>& cover,
               std::int64_t gathered) {
  for (const auto extent : patches.extent())
    if (extent % 2 != 0) return false;
  const auto shares = on_host(Cargo::fields, cover);
  std::int64_t active = 0;
  for (int n = 0; n < 8 * patches.own(); ++n) active += shares(n) > 0.5;
  return patches.communicator().sum(active) > std::max(gathered, CoarseSolver::k_few_cells);
}

}  // namespace

Bottom::Bottom(const LevelPatches& patches, bool finest, const DeviceArray<double>& cover,
               const CommOptions& options, std::int64_t gathered) {
  if (!finest && is_spread(patches, cover, gathered))
    spread_ = std::make_unique<SpreadGrid>(patches, cover, options, gathered);
  else gathered_ = std::make_unique<GatheredGrid>(patches, finest, cover, options);
}

Bottom::~Bottom() = default;

void Bottom::solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) {
  if (spread_) spread_->solve(f, phi);
  else gathered_->solve(f, phi);
}

std::int64_t Bottom::bytes() const { return spread_ ? spread_->bytes() : gathered_->bytes(); }

int Bottom::spread_grids() const { return spread_ ? spread_->spread_grids() : 0; }

}  // namespace octant::gravity
