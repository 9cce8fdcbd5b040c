// Who owns which block.
#include <algorithm>

#include "driver/amr_simulation.hpp"

namespace octant::driver {

bool AmrSimulation::rebalance() {
  const auto timing = timers_.time("rebalance");
  const Communicator& communicator = mesh_.communicator();
  if (communicator.size() == 1) return false;
  const auto costs = block_costs();
  std::vector<std::vector<int>> owners =
      options_.balance.cost == "time" ? balance_each_level(costs) : balance_all_levels(costs);
  bool moves = false;
  for (const auto& level : owners)
    for (const int owner : level) moves = moves || owner != communicator.rank();
  if (!communicator.any(moves)) return false;
  if (matter_.dark()) matter_.dark()->migrate(owners);
  mesh_.migrate(owners);
  if (matter_.dark()) matter_.dark()->adapt_to_mesh();
  return true;
}

// By level, the cost of every own block: its memory, corrected by the time that this rank took per
// cell (eq. 4-6 and 12 of the paper that decomp/cost.hpp names).
std::vector<std::vector<CostItem>> AmrSimulation::block_costs() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const MemoryWeights weights = memory_weights(geometry.block_size(), mesh_.layout().variables);
  const auto factors =
      time_factors(options_.balance.time_alpha, level_times_, reduction_over(mesh_.communicator()));
  std::vector<std::vector<CostItem>> costs(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const double factor = factors[level] * options_.balance.substeps(level, options_.time.subcycle);
    const auto particles = matter_.dark() ? matter_.dark()->counts_by_slot(level)
                                          : std::vector<std::int32_t>(mesh_.blocks(level).slots());
    for (const int slot : mesh_.blocks(level).own())
      costs[level].push_back({morton_decode(mesh_.blocks(level).key(slot)), level,
                              factor * memory_cost(weights, particles[slot])});
    level_times_[level] = {};
  }
  return costs;
}

// With sub-cycling ranks meet after every sub-step of every level: each must be balanced by itself.
std::vector<std::vector<int>> AmrSimulation::balance_each_level(
    const std::vector<std::vector<CostItem>>& costs) const {
  const auto decomposition = decomposition_of(options_.balance.decomposition);
  std::vector<std::vector<int>> owners(costs.size());
  for (int level = 0; level <= mesh_.finest_level(); ++level)
    owners[level] =
        partition(decomposition, mesh_.communicator(), {mesh_.geometry().extent(0)}, costs[level]);
  return owners;
}

// For equal memory: children stay with their parents where the walls allow it.
std::vector<std::vector<int>> AmrSimulation::balance_all_levels(
    const std::vector<std::vector<CostItem>>& costs) const {
  std::vector<CostItem> all;
  for (const auto& level : costs) all.insert(all.end(), level.begin(), level.end());
  const auto together = partition(decomposition_of(options_.balance.decomposition),
                                  mesh_.communicator(), {mesh_.geometry().extent(0)}, all);
  std::vector<std::vector<int>> owners;
  auto next = together.begin();
  for (const auto& level : costs) {
    owners.emplace_back(next, next + static_cast<std::ptrdiff_t>(level.size()));
    next += static_cast<std::ptrdiff_t>(level.size());
  }
  return owners;
}

}  // namespace octant::driver
