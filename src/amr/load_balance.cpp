#include "amr/load_balance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"

namespace octant {

bool LoadBalance::rebalance() {
  const auto timing = context_.timers.time("rebalance", Phase::rebalance);
  const Communicator& communicator = mesh_.communicator();
  if (communicator.size() == 1) return false;
  const auto costs = block_costs();
  std::vector<std::vector<int>> owners =
      options_.balance.by_level() ? balance_each_level(costs) : balance_all_levels(costs);
  bool moves = false;
  for (const auto& level : owners)
    for (const int owner : level) moves = moves || owner != communicator.rank();
  if (!communicator.any(moves)) return false;
  matter_.migrate(owners);
  context_.meter.migrate(owners);
  mesh_.migrate(owners);
  matter_.adapt_to_mesh();
  return true;
}

// Cost of every own block by level: its memory, corrected by the measured time per cell of this
// rank (eq. 4-6 and 12 of the paper cited in decomp/work.hpp).
std::vector<std::vector<CostItem>> LoadBalance::block_costs() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const MemoryWeights weights = memory_weights(geometry.block_size(), mesh_.layout().variables);
  const auto factors = time_factors(options_.balance.time_alpha, gas_.take_level_times(),
                                    reduction_over(mesh_.communicator()));
  const BlockCounts particles = particles_.counts();
  std::vector<std::vector<CostItem>> costs(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const double factor = factors[level] * options_.balance.substeps(level, options_.time.subcycle);
    const auto own = mesh_.blocks(level).own();
    for (std::size_t n = 0; n < own.size(); ++n)
      costs[level].push_back({morton_decode(mesh_.blocks(level).key(own[n])), level,
                              factor * memory_cost(weights, particles[level][n])});
  }
  if (options_.balance.cost == BalanceCost::measured) measure_costs(costs);
  return costs;
}

// Replaces costs by measured ones; blocks without measurement get the mean of their level.
void LoadBalance::measure_costs(std::vector<std::vector<CostItem>>& costs) const {
  constexpr double k_units = 1024.0;  // per nanosecond, for integer sums
  std::vector<std::int64_t> sums(2 * costs.size(), 0);
  for (std::size_t level = 0; level < costs.size(); ++level)
    for (CostItem& block : costs[level]) {
      block.cost = context_.meter.smoothed(block.level, morton_encode(block.coordinates));
      sums[2 * level] += std::llround(k_units * block.cost);
      sums[2 * level + 1] += block.cost > 0.0 ? 1 : 0;
    }
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(sums));
  double mean = 1.0;  // of the coarser level if this one has none
  for (std::size_t level = 0; level < costs.size(); ++level) {
    const auto known = static_cast<double>(sums[2 * level + 1]);
    if (known > 0.0) mean = static_cast<double>(sums[2 * level]) / (k_units * known);
    for (CostItem& block : costs[level])
      if (block.cost == 0.0) block.cost = mean;
  }
}

// On rank 0, the number of blocks of average particle number that fit on each rank; empty if
// unlimited.
placement::Capacity LoadBalance::block_capacity() const {
  if (!options_.balance.is_limited()) return {};
  std::int64_t sums[2] = {0, 0};  // blocks, particles
  for (const auto& level : particles_.counts()) {
    sums[0] += std::ssize(level);
    sums[1] += std::accumulate(level.begin(), level.end(), std::int64_t{0});
  }
  const Communicator& communicator = mesh_.communicator();
  communicator.sum_in_place(std::span<std::int64_t>(sums));
  const double bytes = mean_memory_cost(
      memory_weights(mesh_.geometry().block_size(), mesh_.layout().variables), sums[0], sums[1]);
  const std::int64_t most = options_.balance.block_limit(bytes);
  if (sums[0] > most * communicator.size())
    throw RunError(
        "step {}: {} blocks do not fit on {} ranks that have memory for {} blocks each; increase "
        "balance.rank_memory or balance.most_blocks, or use more ranks",
        context_.step, sums[0], communicator.size(), most);
  return placement::Capacity(communicator.is_root() ? communicator.size() : 0, most);
}

// Computes the owners of the blocks of a level, or of all levels (-1).
std::vector<int> LoadBalance::owners_of(const std::vector<CostItem>& blocks, int level,
                                        placement::Capacity& capacity) {
  const Communicator& communicator = mesh_.communicator();
  const auto decomposition = options_.balance.decomposition;
  const DomainShape domain{mesh_.geometry().extent(0)};
  if (!options_.balance.is_planned()) return partition(decomposition, communicator, domain, blocks);
  const PlacementChoice choice{
      .policy = options_.balance.policy,
      .cplx_x = options_.balance.cplx_x,
      .curve = decomposition == Decomposition::morton ? Curve::morton : Curve::hilbert,
      .ranks_per_node = options_.ranks_per_node,
      .communication = communication_share()};
  PlannedPlacement planned = plan_placement(choice, communicator, domain, blocks, &capacity);
  if (communicator.is_root()) placements_.push_back({level, planned.report});
  return planned.owners;
}

// Time for ghost data relative to that of sweeps.
double LoadBalance::communication_share() const {
  const double sweeping = context_.timers.seconds("sweep"),
               talking = context_.timers.seconds("ghost data");
  return sweeping > 0.0 ? talking / sweeping : 0.0;
}

// Balances each level separately, because ranks synchronise after every substep with subcycling.
// Fine levels come first because they have most of the work.
std::vector<std::vector<int>> LoadBalance::balance_each_level(
    const std::vector<std::vector<CostItem>>& costs) {
  placement::Capacity capacity = block_capacity();
  std::vector<std::vector<int>> owners(costs.size());
  for (int level = mesh_.finest_level(); level >= 0; --level)
    owners[level] = owners_of(costs[level], level, capacity);
  return owners;
}

// Balances memory: children stay with their parents where partition boundaries allow it.
std::vector<std::vector<int>> LoadBalance::balance_all_levels(
    const std::vector<std::vector<CostItem>>& costs) {
  std::vector<CostItem> all;
  for (const auto& level : costs) all.insert(all.end(), level.begin(), level.end());
  placement::Capacity capacity = block_capacity();
  const auto together = owners_of(all, -1, capacity);
  std::vector<std::vector<int>> owners;
  auto next = together.begin();
  for (const auto& level : costs) {
    owners.emplace_back(next, next + static_cast<std::ptrdiff_t>(level.size()));
    next += static_cast<std::ptrdiff_t>(level.size());
  }
  return owners;
}

}  // namespace octant
