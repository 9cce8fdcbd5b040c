#include "decomp/planner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "decomp/hilbert.hpp"
#include "decomp/placement/locality.hpp"
#include "decomp/wall_search.hpp"

namespace octant {

namespace {

using placement::Capacity;
using placement::Owners;
using placement::Zone;

// Description of a block for the planner.
struct PlannedBlock {
  Key position;  // curve position of the block's centre
  float cost;
  std::int32_t level;
};

constexpr float k_min_cost = 1e-30F;  // policies require positive costs

// Blocks of a zone in the order of the curve, with their owners.
class Planner {
 public:
  // `blocks` are the blocks of the zone; the ranks that sent them are their present owners.
  Planner(const PlacementChoice& choice, const FinestGrid& grid, const Zone& zone,
          Routed<PlannedBlock> blocks, Capacity capacity)
      : choice_(choice),
        capacity_(std::move(capacity)),
        grid_(grid),
        blocks_(std::move(blocks.items)),
        first_rank_(zone.first_rank),
        ranks_(zone.ranks) {
    order_.resize(blocks_.size());
    std::iota(order_.begin(), order_.end(), std::int32_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::tie(blocks_[a].position, blocks_[a].level) <
             std::tie(blocks_[b].position, blocks_[b].level);
    });
    for (const std::int32_t n : order_) {
      costs_.push_back(blocks_[n].cost);
      before_.push_back(blocks.sources[n] - first_rank_);
      leaves_.push_back(leaf(blocks_[n]));
    }
  }

  // Returns the owners in the input order of the blocks.
  std::vector<std::int32_t> plan() {
    if (costs_.empty()) return {};
    const auto begun = std::chrono::steady_clock::now();
    const Owners after = choice_.policy == "auto" ? choose() : by_policy(choice_.policy);
    summary_.duration_ns = (std::chrono::steady_clock::now() - begun) / std::chrono::nanoseconds(1);
    summarize(after);
    std::vector<std::int32_t> owners(after.size());
    for (std::size_t n = 0; n < after.size(); ++n) owners[order_[n]] = first_rank_ + after[n];
    return owners;
  }

  // Numbers for the report, of this zone.
  struct Summary {
    double cplx_x = 0.0;
    double largest_load = 0.0;
    std::int64_t blocks_moved = 0, duration_ns = 0;
    placement::Traffic traffic;
  };
  const Summary& summary() const { return summary_; }

 private:
  Owners by_policy(const std::string& name) const {
    Owners owners = placement::place({.name = name,
                                      .percent = choice_.cplx_x,
                                      .ranks_per_node = choice_.ranks_per_node,
                                      .zone_ranks = choice_.zone_ranks},
                                     {costs_, leaves_}, ranks_);
    return capacity_.empty() ? owners
                             : placement::within_capacity(costs_, std::move(owners), capacity_);
  }

  // Chooses the cplx percentage with the smallest sum of makespan and communication time, which
  // increases with the bytes that leave a rank.
  Owners choose() {
    const double now = off_rank_share(traffic_of(before_));
    Owners best;
    double least = 0.0, best_percent = 0.0;
    for (const double percent : {0.0, 25.0, 50.0, 75.0, 100.0}) {
      choice_.cplx_x = percent;
      Owners owners = by_policy("cplx");
      const double share = off_rank_share(traffic_of(owners));
      const double growth = now > 0.0 ? share / now : 1.0;
      const double time =
          placement::makespan_over_mean(costs_, owners, ranks_) + choice_.communication * growth;
      if (!best.empty() && time >= least) continue;
      best = std::move(owners);
      least = time;
      best_percent = percent;
    }
    choice_.cplx_x = best_percent;
    return best;
  }

  placement::Leaf leaf(const PlannedBlock& block) const {
    const BlockCoordinates centre = choice_.curve == Curve::hilbert
                                        ? hilbert_decode(block.position, grid_.bits())
                                        : morton_decode(block.position);
    placement::Leaf leaf{.level = block.level, .position = {}};
    for (int axis = 0; axis < 3; ++axis)
      leaf.position[axis] = static_cast<std::int32_t>(centre[axis] >> (grid_.depth - block.level));
    return leaf;
  }

  placement::Traffic traffic_of(const Owners& owners) const {
    return placement::traffic(leaves_, owners, choice_.ranks_per_node);
  }
  static double off_rank_share(const placement::Traffic& traffic) {
    const auto all = static_cast<double>(std::max<std::int64_t>(traffic.all, 1));
    return static_cast<double>(traffic.off_rank) / all;
  }

  void summarize(const Owners& after) {
    const bool has_x = choice_.policy == "cplx" || choice_.policy == "zonal";
    summary_.cplx_x = has_x || choice_.policy == "auto" ? choice_.cplx_x : 0.0;
    summary_.largest_load = std::ranges::max(placement::loads(costs_, after, ranks_));
    for (std::size_t n = 0; n < after.size(); ++n) summary_.blocks_moved += after[n] != before_[n];
    summary_.traffic = traffic_of(after);
  }

  PlacementChoice choice_;
  Capacity capacity_;
  FinestGrid grid_;
  std::vector<PlannedBlock> blocks_;
  int first_rank_, ranks_;
  std::vector<std::int32_t> order_;  // blocks along the curve
  std::vector<double> costs_;        // in that order
  std::vector<placement::Leaf> leaves_;
  Owners before_;  // counted from the zone's first rank; may lie outside of the zone
  Summary summary_;
};

std::vector<Zone> zones_of_ranks(const PlacementChoice& choice, int ranks) {
  const int most = choice.policy == "auto"
                       ? ranks
                       : placement::most_zone_ranks(
                             {.name = choice.policy, .zone_ranks = choice.zone_ranks}, ranks);
  return placement::zones_of_ranks(ranks, most, choice.ranks_per_node);
}

// Zone for which a rank plans; one without ranks if it is not the first rank of a zone.
Zone zone_of(const std::vector<Zone>& zones, int rank) {
  for (const Zone& zone : zones)
    if (zone.first_rank == rank) return zone;
  return {};
}

// Planners of this rank's blocks: zones are segments of the curve with equal costs per rank.
// Collective.
std::vector<int> planners_of(const std::vector<Zone>& zones, const Work& work,
                             std::span<const PlannedBlock> blocks, const Reduction& reduction) {
  std::vector<int> planners(blocks.size(), 0);
  if (zones.size() == 1) return planners;
  std::vector<LinePoint> points;
  for (std::size_t n = 0; n < blocks.size(); ++n)
    points.push_back({blocks[n].position, work.points[n].cost});
  WallRules rules{.shares = {}, .grains = {1}, .tolerance = k_balance_tolerance};
  for (const Zone& zone : zones) rules.shares.push_back(zone.ranks);
  const LineRange whole_curve{0, Key{1} << 3 * work.grid.bits()};
  const std::vector<Key> walls = find_walls(whole_curve, points, rules, reduction.sum);
  for (std::size_t n = 0; n < blocks.size(); ++n) {
    const auto after = std::ranges::upper_bound(walls, blocks[n].position);
    planners[n] = zones[static_cast<std::size_t>(after - walls.begin())].first_rank;
  }
  return planners;
}

// Returns received values in the order of the requests to `ranks`; they arrive sorted by rank, and
// for each rank in the order of the requests.
std::vector<std::int32_t> in_order_of(std::span<const int> ranks,
                                      std::span<const std::int32_t> arrived) {
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t n) { return ranks[n]; });
  std::vector<std::int32_t> values(ranks.size());
  for (std::size_t n = 0; n < order.size(); ++n) values[order[n]] = arrived[n];
  return values;
}

// Combines the summaries of all zones; `blocks` are the present blocks of this rank. Collective.
PlacementReport report_of(const PlacementChoice& choice, const Communicator& communicator,
                          const Planner::Summary& zone, std::span<const PlannedBlock> blocks) {
  double load = 0.0;
  for (const PlannedBlock& block : blocks) load += block.cost;
  double largest[] = {load, zone.largest_load, zone.cplx_x};
  communicator.max_in_place(std::span<double>(largest));
  std::int64_t sums[] = {std::llround(load), zone.blocks_moved, zone.traffic.all,
                         zone.traffic.off_rank, zone.traffic.off_node};
  communicator.sum_in_place(std::span<std::int64_t>(sums));
  PlacementReport report{.policy = choice.policy, .cplx_x = largest[2]};
  if (sums[0] > 0) {
    const double mean = static_cast<double>(sums[0]) / communicator.size();
    report.makespan_before = largest[0] / mean;
    report.makespan_after = largest[1] / mean;
  }
  report.blocks_moved = sums[1];
  const auto all = static_cast<double>(std::max<std::int64_t>(sums[2], 1));
  report.off_rank_share = static_cast<double>(sums[3]) / all;
  report.off_node_share = static_cast<double>(sums[4]) / all;
  report.duration_ns = communicator.max(zone.duration_ns);
  return report;
}

}  // namespace

const std::vector<std::string>& planned_policies() {
  static const std::vector<std::string> k_names = [] {
    std::vector<std::string> names = placement::policy_names();
    names.emplace_back("auto");
    return names;
  }();
  return k_names;
}

int planned_ranks(const PlacementChoice& choice, const Communicator& communicator) {
  return zone_of(zones_of_ranks(choice, communicator.size()), communicator.rank()).ranks;
}

PlannedPlacement plan_placement(const PlacementChoice& choice, const Communicator& communicator,
                                const DomainShape& domain, std::span<const CostItem> local_blocks,
                                Capacity* capacity) {
  const std::vector<Zone> zones = zones_of_ranks(choice, communicator.size());
  if (const int most = std::ranges::max(zones, {}, &Zone::ranks).ranks; most > k_max_planned_ranks)
    throw InputError(
        "balance.policy = \"{}\" supports at most {} ranks, not {}; use \"contiguous\", "
        "\"zonal\" or \"node\"",
        choice.policy, k_max_planned_ranks, most);
  const Reduction reduction = reduction_over(communicator);
  const Work work = measure_work(domain, local_blocks, reduction);
  const int bits = work.grid.bits();
  std::vector<PlannedBlock> blocks;
  for (std::size_t n = 0; n < local_blocks.size(); ++n) {
    const BlockCoordinates& centre = work.points[n].centre;
    const Key position =
        choice.curve == Curve::hilbert ? hilbert_encode(centre, bits) : morton_encode(centre);
    const float cost = std::max(static_cast<float>(work.points[n].cost), k_min_cost);
    blocks.push_back({position, cost, local_blocks[n].level});
  }
  const std::vector<int> planners = planners_of(zones, work, blocks, reduction);
  auto of_zone = route<PlannedBlock>(communicator, planners, blocks);

  const std::vector<int> sources = of_zone.sources;
  Planner::Summary summary;
  std::vector<std::int32_t> planned;
  communicator.collective_try([&] {
    const Zone zone = zone_of(zones, communicator.rank());
    if (zone.ranks == 0) return;
    Planner planner(choice, work.grid, zone, std::move(of_zone), capacity ? *capacity : Capacity());
    planned = planner.plan();
    if (capacity && !capacity->empty())
      for (const std::int32_t owner : planned) --(*capacity)[owner - zone.first_rank];
    summary = planner.summary();
  });
  const auto arrived = route<std::int32_t>(communicator, sources, planned);
  const auto owners = in_order_of(planners, arrived.items);
  return {{owners.begin(), owners.end()}, report_of(choice, communicator, summary, blocks)};
}

}  // namespace octant
