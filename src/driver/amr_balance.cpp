// Who owns which block.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "driver/amr_simulation.hpp"

namespace octant::driver {

bool AmrSimulation::rebalance() {
  const auto timing = timers_.time("rebalance", Phase::rebalance);
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
  meter_.migrate(owners);
  mesh_.migrate(owners);
  matter_.adapt_to_mesh();
  return true;
}

// By level, the cost of every own block: its memory, corrected by the time that this rank took per
// cell (eq. 4-6 and 12 of the paper that decomp/cost.hpp names).
std::vector<std::vector<CostItem>> AmrSimulation::block_costs() {
  const mesh::Geometry& geometry = mesh_.geometry();
  const MemoryWeights weights = memory_weights(geometry.block_size(), mesh_.layout().variables);
  const auto factors =
      time_factors(options_.balance.time_alpha, level_times_, reduction_over(mesh_.communicator()));
  const BlockCounts particles = particle_counts();
  std::vector<std::vector<CostItem>> costs(geometry.max_level() + 1);
  for (int level = 0; level <= geometry.max_level(); ++level) {
    const double factor = factors[level] * options_.balance.substeps(level, options_.time.subcycle);
    const auto own = mesh_.blocks(level).own();
    for (std::size_t n = 0; n < own.size(); ++n)
      costs[level].push_back({morton_decode(mesh_.blocks(level).key(own[n])), level,
                              factor * memory_cost(weights, particles[level][n])});
    level_times_[level] = {};
  }
  if (options_.balance.cost == BalanceCost::measured) measure_costs(costs);
  return costs;
}

// Replaces costs by the measured ones; blocks of which nothing is known get their level's mean.
void AmrSimulation::measure_costs(std::vector<std::vector<CostItem>>& costs) const {
  constexpr double k_units = 1024.0;  // per nanosecond, for sums of integers
  std::vector<std::int64_t> sums(2 * costs.size(), 0);
  for (std::size_t level = 0; level < costs.size(); ++level)
    for (CostItem& block : costs[level]) {
      block.cost = meter_.smoothed(block.level, morton_encode(block.coordinates));
      sums[2 * level] += std::llround(k_units * block.cost);
      sums[2 * level + 1] += block.cost > 0.0 ? 1 : 0;
    }
  mesh_.communicator().sum_in_place(std::span<std::int64_t>(sums));
  double mean = 1.0;  // of the coarser level where this one has none
  for (std::size_t level = 0; level < costs.size(); ++level) {
    const auto known = static_cast<double>(sums[2 * level + 1]);
    if (known > 0.0) mean = static_cast<double>(sums[2 * level]) / (k_units * known);
    for (CostItem& block : costs[level])
      if (block.cost == 0.0) block.cost = mean;
  }
}

// On rank 0, how many blocks with their average number of particles each rank may own; empty if any
// number.
placement::Room AmrSimulation::room_for_blocks() const {
  if (!options_.balance.is_limited()) return {};
  std::int64_t sums[2] = {0, 0};  // blocks, particles
  for (const auto& level : particle_counts()) {
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
        "step {}: {} blocks do not fit into {} ranks with memory for {} each; raise "
        "balance.rank_memory or balance.most_blocks, or take more ranks",
        step_, sums[0], communicator.size(), most);
  return placement::Room(communicator.is_root() ? communicator.size() : 0, most);
}

// Who shall own these blocks of a level, or of all levels (-1).
std::vector<int> AmrSimulation::owners_of(const std::vector<CostItem>& blocks, int level,
                                          placement::Room& room) {
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
  PlannedPlacement planned = plan_placement(choice, communicator, domain, blocks, &room);
  if (communicator.is_root()) placements_.push_back({level, planned.report});
  return planned.owners;
}

// How long ranks spend on ghost data, in units of their sweeps.
double AmrSimulation::communication_share() const {
  const double sweeping = timers_.seconds("sweep"), talking = timers_.seconds("ghost data");
  return sweeping > 0.0 ? talking / sweeping : 0.0;
}

// With sub-cycling ranks meet after every sub-step of every level: each must be balanced by itself.
// Fine levels have most of the work, and may fill ranks first.
std::vector<std::vector<int>> AmrSimulation::balance_each_level(
    const std::vector<std::vector<CostItem>>& costs) {
  placement::Room room = room_for_blocks();
  std::vector<std::vector<int>> owners(costs.size());
  for (int level = mesh_.finest_level(); level >= 0; --level)
    owners[level] = owners_of(costs[level], level, room);
  return owners;
}

// For equal memory: children stay with their parents where the walls allow it.
std::vector<std::vector<int>> AmrSimulation::balance_all_levels(
    const std::vector<std::vector<CostItem>>& costs) {
  std::vector<CostItem> all;
  for (const auto& level : costs) all.insert(all.end(), level.begin(), level.end());
  placement::Room room = room_for_blocks();
  const auto together = owners_of(all, -1, room);
  std::vector<std::vector<int>> owners;
  auto next = together.begin();
  for (const auto& level : costs) {
    owners.emplace_back(next, next + static_cast<std::ptrdiff_t>(level.size()));
    next += static_cast<std::ptrdiff_t>(level.size());
  }
  return owners;
}

}  // namespace octant::driver
