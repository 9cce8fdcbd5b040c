#include "decomp/planner.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "comm/exchanger.hpp"
#include "core/error.hpp"
#include "decomp/hilbert.hpp"
#include "decomp/placement/locality.hpp"

namespace octant {

namespace {

using placement::Capacity;
using placement::Owners;

// Description of a block for the planner.
struct PlannedBlock {
  Key position;  // curve position of the block's centre
  float cost;
  std::int32_t level;
};

constexpr float k_min_cost = 1e-30F;  // policies require positive costs

// All blocks in the order of the curve, with their owners.
class Planner {
 public:
  Planner(const PlacementChoice& choice, const Work& work, std::vector<PlannedBlock> blocks,
          std::vector<std::int64_t> counts, Capacity capacity)
      : choice_(choice),
        capacity_(std::move(capacity)),
        grid_(work.grid),
        blocks_(std::move(blocks)),
        ranks_(static_cast<int>(counts.size())) {
    order_.resize(blocks_.size());
    std::iota(order_.begin(), order_.end(), std::int32_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::int32_t a, std::int32_t b) {
      return std::tie(blocks_[a].position, blocks_[a].level) <
             std::tie(blocks_[b].position, blocks_[b].level);
    });
    Owners before;
    for (int rank = 0; rank < ranks_; ++rank) before.insert(before.end(), counts[rank], rank);
    for (const std::int32_t n : order_) {
      costs_.push_back(std::max(blocks_[n].cost, k_min_cost));
      before_.push_back(before[n]);
      leaves_.push_back(leaf(blocks_[n]));
    }
  }

  // Returns the owners in the input order of the blocks.
  std::vector<std::int32_t> plan() {
    if (costs_.empty()) return {};
    const auto begun = std::chrono::steady_clock::now();
    const Owners after = choice_.policy == "auto" ? choose() : by_policy(choice_.policy);
    report_.duration_ns = (std::chrono::steady_clock::now() - begun) / std::chrono::nanoseconds(1);
    describe(after);
    std::vector<std::int32_t> owners(after.size());
    for (std::size_t n = 0; n < after.size(); ++n) owners[order_[n]] = after[n];
    return owners;
  }
  const PlacementReport& report() const { return report_; }

 private:
  Owners by_policy(const std::string& name) const {
    Owners owners = placement::place(
        {.name = name, .percent = choice_.cplx_x, .ranks_per_node = choice_.ranks_per_node},
        {costs_, leaves_}, ranks_);
    return capacity_.empty() ? owners
                             : placement::within_capacity(costs_, std::move(owners), capacity_);
  }

  // Chooses the placement with the smallest sum of makespan and communication time, which increases
  // with the bytes that leave a rank.
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
    placement::Leaf leaf{.level = block.level, .place = {}};
    for (int axis = 0; axis < 3; ++axis)
      leaf.place[axis] = static_cast<std::int32_t>(centre[axis] >> (grid_.depth - block.level));
    return leaf;
  }

  placement::Traffic traffic_of(const Owners& owners) const {
    return placement::traffic(leaves_, owners, choice_.ranks_per_node);
  }
  static double off_rank_share(const placement::Traffic& traffic) {
    const auto all = static_cast<double>(std::max<std::int64_t>(traffic.all, 1));
    return static_cast<double>(traffic.off_rank) / all;
  }

  void describe(const Owners& after) {
    report_.policy = choice_.policy;
    const bool has_x = choice_.policy == "cplx" || choice_.policy == "zonal";
    report_.cplx_x = has_x || choice_.policy == "auto" ? choice_.cplx_x : 0.0;
    report_.makespan_before = placement::makespan_over_mean(costs_, before_, ranks_);
    report_.makespan_after = placement::makespan_over_mean(costs_, after, ranks_);
    for (std::size_t n = 0; n < after.size(); ++n) report_.blocks_moved += after[n] != before_[n];
    const placement::Traffic traffic = traffic_of(after);
    const auto all = static_cast<double>(std::max<std::int64_t>(traffic.all, 1));
    report_.off_rank_share = off_rank_share(traffic);
    report_.off_node_share = static_cast<double>(traffic.off_node) / all;
  }

  PlacementChoice choice_;
  Capacity capacity_;
  FinestGrid grid_;
  std::vector<PlannedBlock> blocks_;
  int ranks_;
  std::vector<std::int32_t> order_;  // blocks along the curve
  std::vector<double> costs_;        // in that order
  std::vector<placement::Leaf> leaves_;
  Owners before_;
  PlacementReport report_;
};

// Sends every rank its part of the values on rank 0.
std::vector<std::int32_t> scatter(const Communicator& communicator,
                                  const std::vector<std::int64_t>& counts, std::int64_t own_count,
                                  const std::vector<std::int32_t>& values) {
  std::vector<Segment> sends, receives;
  for (int rank = 0; rank < std::ssize(counts); ++rank)
    if (counts[rank] > 0) sends.push_back({rank, counts[rank]});
  if (own_count > 0) receives.push_back({0, own_count});
  const ExchangePlan plan(communicator, std::move(sends), std::move(receives));
  std::vector<std::int32_t> own(static_cast<std::size_t>(own_count));
  Exchanger exchanger("placement", communicator, {.exchange = Backend::p2p});
  exchanger.run<std::int32_t>(plan, values.data(), own.data(), 1);
  return own;
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

PlannedPlacement plan_placement(const PlacementChoice& choice, const Communicator& communicator,
                                const DomainShape& domain, std::span<const CostItem> local_blocks,
                                Capacity* capacity) {
  if (communicator.size() > k_max_planned_ranks)
    throw InputError(
        "balance.policy = \"{}\" supports at most {} ranks, not {}; use \"contiguous\"",
        choice.policy, k_max_planned_ranks, communicator.size());
  const Work work = measure_work(domain, local_blocks, reduction_over(communicator));
  const int bits = work.grid.bits();
  std::vector<PlannedBlock> blocks;
  for (std::size_t n = 0; n < local_blocks.size(); ++n) {
    const BlockCoordinates& centre = work.points[n].centre;
    const Key position =
        choice.curve == Curve::hilbert ? hilbert_encode(centre, bits) : morton_encode(centre);
    blocks.push_back({position, static_cast<float>(work.points[n].cost), local_blocks[n].level});
  }
  const auto own_count = static_cast<std::int64_t>(blocks.size());
  const auto counts = communicator.gather_to_root(own_count);
  auto all = communicator.gather_to_root(std::span<const PlannedBlock>(blocks));

  PlannedPlacement result;
  std::vector<std::int32_t> planned;
  communicator.collective_try([&] {
    if (!communicator.is_root()) return;
    Planner planner(choice, work, std::move(all), counts, capacity ? *capacity : Capacity());
    planned = planner.plan();
    if (capacity && !capacity->empty())
      for (const std::int32_t owner : planned) --(*capacity)[owner];
    result.report = planner.report();
  });
  const auto own = scatter(communicator, counts, own_count, planned);
  result.owners.assign(own.begin(), own.end());
  return result;
}

}  // namespace octant
