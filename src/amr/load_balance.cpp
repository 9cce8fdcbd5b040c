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
  if (!context_.meter.last_step().empty()) reached_.reset();
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

bool LoadBalance::exceeds_threshold() {
  const double threshold = options_.balance.imbalance_threshold;
  if (threshold == 0.0 || mesh_.communicator().size() == 1) return false;
  if (context_.meter.last_step().empty()) return false;
  const double now = imbalance();
  if (!reached_) reached_ = now;
  return now > threshold && now > k_tolerated_growth * *reached_;
}

// Ratio of maximum to mean of the quantity that is balanced: bytes, or the measured time of the
// last step, in which ranks synchronise after every level.
double LoadBalance::imbalance() const {
  std::vector<std::int64_t> own;
  if (options_.balance.by_level())
    for (const double time : context_.meter.last_step()) own.push_back(std::llround(time));
  else own.push_back(std::llround(memory_.stored_bytes()));
  std::vector<std::int64_t> most = own;
  const Communicator& communicator = mesh_.communicator();
  communicator.max_in_place(std::span(most));
  communicator.sum_in_place(std::span(own));
  const auto total = [](const auto& values) {
    return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
  };
  return total(own) > 0.0 ? communicator.size() * total(most) / total(own) : 1.0;
}

// Cost of every own block by level: its memory, corrected by the measured time per block of this
// rank (cuRAMSES paper, eq. 4-6 and 12), or its measured time.
std::vector<std::vector<CostItem>> LoadBalance::block_costs() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const auto factors = time_factors(options_.balance.time_alpha, context_.meter.take_level_times(),
                                    reduction_over(mesh_.communicator()));
  const ByBlock<double> bytes = memory_.by_block();
  std::vector<std::vector<CostItem>> costs(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const double factor = factors[level] * options_.balance.substeps(level, options_.time.subcycle);
    const auto own = mesh_.blocks(level).own();
    for (std::size_t n = 0; n < own.size(); ++n)
      costs[level].push_back(
          {morton_decode(mesh_.blocks(level).key(own[n])), level, factor * bytes[level][n]});
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
  double mean = 1.0;  // mean cost; that of the coarser level if a level has none
  for (std::size_t level = 0; level < costs.size(); ++level) {
    const auto known = static_cast<double>(sums[2 * level + 1]);
    if (known > 0.0) mean = static_cast<double>(sums[2 * level]) / (k_units * known);
    for (CostItem& block : costs[level])
      if (block.cost == 0.0) block.cost = mean;
  }
}

// Number of average-size blocks that fit on each rank of this planner's zone; empty if unlimited or
// if this rank is no planner.
placement::Capacity LoadBalance::block_capacity() const {
  if (!options_.balance.is_limited()) return {};
  std::int64_t sums[2] = {0, 0};  // blocks, bytes
  for (const auto& level : memory_.by_block()) {
    sums[0] += std::ssize(level);
    sums[1] += std::llround(std::accumulate(level.begin(), level.end(), 0.0));
  }
  const Communicator& communicator = mesh_.communicator();
  communicator.sum_in_place(std::span<std::int64_t>(sums));
  const double bytes =
      static_cast<double>(sums[1]) / static_cast<double>(std::max<std::int64_t>(sums[0], 1));
  const std::int64_t most = options_.balance.block_limit(bytes);
  if (sums[0] > most * communicator.size())
    throw RunError(
        "step {}: {} blocks do not fit on {} ranks that have memory for {} blocks each; increase "
        "balance.rank_memory or balance.most_blocks, or use more ranks",
        context_.step, sums[0], communicator.size(), most);
  return placement::Capacity(planned_ranks(placement_choice(), communicator), most);
}

// Computes the owners of the blocks of a level, or of all levels (-1).
std::vector<int> LoadBalance::owners_of(const std::vector<CostItem>& blocks, int level,
                                        placement::Capacity& capacity) {
  const Communicator& communicator = mesh_.communicator();
  const auto decomposition = options_.balance.decomposition;
  const DomainShape domain{mesh_.geometry().extent(0)};
  if (!options_.balance.is_planned())
    return partition(decomposition, communicator, domain, blocks, options_.balance.tolerance);
  PlannedPlacement planned =
      plan_placement(placement_choice(), communicator, domain, blocks, &capacity);
  if (communicator.is_root()) placements_.push_back({level, planned.report});
  return planned.owners;
}

PlacementChoice LoadBalance::placement_choice() const {
  const bool is_morton = options_.balance.decomposition == Decomposition::morton;
  return {.policy = options_.balance.policy,
          .cplx_x = options_.balance.cplx_x,
          .curve = is_morton ? Curve::morton : Curve::hilbert,
          .ranks_per_node = options_.ranks_per_node,
          .communication = communication_fraction()};
}

// Time for ghost data relative to that of sweeps.
double LoadBalance::communication_fraction() const {
  const double sweeping = context_.timers.seconds("sweep"),
               talking = context_.timers.seconds("ghost data");
  return sweeping > 0.0 ? talking / sweeping : 0.0;
}

// Balances each level separately, because, with subcycling, ranks synchronise after every substep.
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
