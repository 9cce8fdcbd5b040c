#include "decomp/planner.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/random.hpp"
#include "decomp/placement/placement.hpp"

namespace octant {
namespace {

constexpr DomainShape k_planned_domain{{6, 4, 5}};

double cost_of(const BlockCoordinates& c, int level) {
  const RandomStream stream(7, static_cast<std::uint64_t>(morton_encode(c)),
                            static_cast<std::uint32_t>(level));
  return stream.uniform(0) < 0.1 ? 9.0 : 1.0;
}

// All base blocks and the children of the first ones; this rank has those that `mine` picks.
template <class Mine>
std::vector<CostItem> some_blocks(const Mine& mine) {
  std::vector<CostItem> blocks;
  int n = 0;
  const auto add = [&](const BlockCoordinates& c, int level) {
    if (mine(n++)) blocks.push_back({c, level, cost_of(c, level)});
  };
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 6; ++x) add({x, y, z}, 0);
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x) add({x, y, z}, 1);
  return blocks;
}

std::vector<CostItem> dealt_out(const Communicator& world) {
  return some_blocks([&](int n) { return n % world.size() == world.rank(); });
}

std::vector<CostItem> all_on_the_last(const Communicator& world) {
  return some_blocks([&](int) { return world.rank() == world.size() - 1; });
}

// Owners of all blocks, by level and key, on rank 0.
std::map<std::pair<int, Key>, int> gathered(const Communicator& world,
                                            const std::vector<CostItem>& blocks,
                                            const std::vector<int>& owners) {
  struct Owned {
    Key key;
    int level, owner;
  };
  std::vector<Owned> own;
  for (std::size_t n = 0; n < blocks.size(); ++n)
    own.push_back({morton_encode(blocks[n].coordinates), blocks[n].level, owners[n]});
  std::map<std::pair<int, Key>, int> all;
  for (const Owned& block : world.gather_to_root(std::span<const Owned>(own)))
    all[{block.level, block.key}] = block.owner;
  return all;
}

TEST(Planner, decides_the_same_whoever_holds_the_blocks) {
  const Communicator world = Communicator::world();
  for (const std::string& policy : planned_policies()) {
    const PlacementChoice choice{.policy = policy, .cplx_x = 50.0, .ranks_per_node = 2};
    const auto here = dealt_out(world), there = all_on_the_last(world);
    const auto a = plan_placement(choice, world, k_planned_domain, here);
    const auto b = plan_placement(choice, world, k_planned_domain, there);
    const auto first = gathered(world, here, a.owners), second = gathered(world, there, b.owners);
    if (policy == "auto") continue;  // looks at the placement before
    EXPECT_EQ(first, second) << policy;
    if (world.is_root()) {
      EXPECT_EQ(first.size(), 184U) << policy;
    }
    for (const auto& [block, owner] : first) {
      EXPECT_GE(owner, 0) << policy;
      EXPECT_LT(owner, world.size()) << policy;
    }
  }
}

TEST(Planner, reports_the_load_that_its_owners_cause) {
  const Communicator world = Communicator::world();
  const auto blocks = dealt_out(world);
  const auto planned = plan_placement({.policy = "lpt"}, world, k_planned_domain, blocks);
  const auto owners = gathered(world, blocks, planned.owners);
  if (!world.is_root()) return;
  std::vector<double> loads(world.size(), 0.0);
  double total = 0.0;
  for (const auto& [block, owner] : owners) {
    const double cost = cost_of(morton_decode(block.second), block.first);
    loads[owner] += cost;
    total += cost;
  }
  const double makespan = *std::max_element(loads.begin(), loads.end()) * world.size() / total;
  EXPECT_NEAR(planned.report.makespan_after, makespan, 1e-6);
  EXPECT_LE(planned.report.makespan_after, planned.report.makespan_before + 1e-12);
  EXPECT_LE(planned.report.makespan_after, 1.05);
  EXPECT_LE(planned.report.off_node_share, planned.report.off_rank_share);
  if (world.size() == 1) {
    EXPECT_EQ(planned.report.blocks_moved, 0);
  }
}

TEST(Planner, auto_keeps_neighbours_together_where_messages_are_dear) {
  const Communicator world = Communicator::world();
  const auto blocks = dealt_out(world);
  const auto cheap =
      plan_placement({.policy = "auto", .communication = 0.0}, world, k_planned_domain, blocks)
          .report;
  const auto dear =
      plan_placement({.policy = "auto", .communication = 1e3}, world, k_planned_domain, blocks)
          .report;
  if (!world.is_root()) return;
  EXPECT_LE(cheap.makespan_after, dear.makespan_after);
  EXPECT_LE(dear.off_rank_share, cheap.off_rank_share);
}

TEST(Planner, fills_no_rank_beyond_its_capacity_and_returns_the_rest) {
  const Communicator world = Communicator::world();
  const auto blocks = dealt_out(world);
  placement::Capacity capacity;  // the first rank has little of it, all others have enough together
  if (world.is_root()) {
    capacity.assign(world.size(), 184);
    capacity[0] = world.size() > 1 ? 5 : 190;
  }
  const auto before = capacity;
  const auto planned =
      plan_placement({.policy = "exact"}, world, k_planned_domain, blocks, &capacity);
  const auto owners = gathered(world, blocks, planned.owners);
  if (!world.is_root()) return;
  placement::Capacity taken(world.size(), 0);
  for (const auto& [block, owner] : owners) ++taken[owner];
  for (int rank = 0; rank < world.size(); ++rank) {
    EXPECT_LE(taken[rank], before[rank]);
    EXPECT_EQ(capacity[rank], before[rank] - taken[rank]);
  }
  EXPECT_EQ(taken[0], world.size() > 1 ? 5 : 184);
}

// Zones of two ranks at most. Their blocks are consecutive on the curve, and each has its planner.
TEST(Planner, plans_zones_in_parallel) {
  const Communicator world = Communicator::world();
  const std::vector<placement::Zone> zones = placement::zones_of_ranks(world.size(), 2, 1);
  const auto zone_of = [&](int rank) {
    const auto after = std::ranges::upper_bound(zones, rank, {}, &placement::Zone::first_rank);
    return static_cast<std::size_t>(after - zones.begin()) - 1;
  };
  for (const std::string policy : {"zonal", "node", "cdp_chunked"}) {
    const PlacementChoice choice{.policy = policy, .curve = Curve::morton, .zone_ranks = 2};
    const placement::Zone& own = zones[zone_of(world.rank())];
    const bool is_first = own.first_rank == world.rank();
    EXPECT_EQ(planned_ranks(choice, world), is_first ? own.ranks : 0) << policy;

    const auto here = dealt_out(world), there = all_on_the_last(world);
    const auto a = plan_placement(choice, world, k_planned_domain, here);
    const auto b = plan_placement(choice, world, k_planned_domain, there);
    const auto owners = gathered(world, here, a.owners);
    EXPECT_EQ(owners, gathered(world, there, b.owners)) << policy;
    EXPECT_EQ(a.report.makespan_after, b.report.makespan_after) << policy;
    if (!world.is_root()) continue;
    EXPECT_EQ(owners.size(), 184U);
    std::vector<double> loads(world.size(), 0.0), of_zones(zones.size(), 0.0);
    std::vector<std::array<Key, 2>> ranges(zones.size(), {std::numeric_limits<Key>::max(), 0});
    double total = 0.0;
    for (const auto& [block, owner] : owners) {
      const auto& [level, key] = block;
      const double cost = cost_of(morton_decode(key), level);
      loads[owner] += cost;
      of_zones[zone_of(owner)] += cost;
      total += cost;
      const Key centre = level == 0 ? 8 * key + 7 : key;  // on the grid of level 1
      auto& [first, last] = ranges[zone_of(owner)];
      first = std::min(first, centre);
      last = std::max(last, centre);
    }
    const double mean = total / world.size();
    EXPECT_NEAR(a.report.makespan_after, std::ranges::max(loads) / mean, 1e-6) << policy;
    for (std::size_t n = 0; n < zones.size(); ++n) {
      EXPECT_NEAR(of_zones[n], zones[n].ranks * mean, 18.0) << policy;  // the two largest costs
      if (n > 0) {
        EXPECT_LE(ranges[n - 1][1], ranges[n][0]) << policy;
      }
    }
  }
}

TEST(Planner, counts_the_capacity_of_each_zone) {
  const Communicator world = Communicator::world();
  const PlacementChoice choice{.policy = "zonal", .zone_ranks = 2};
  const auto blocks = dealt_out(world);
  const std::int64_t most = 2 * 184 / world.size();
  placement::Capacity capacity(planned_ranks(choice, world), most);
  plan_placement(choice, world, k_planned_domain, blocks, &capacity);
  std::int64_t used = 0;
  for (const std::int64_t left : capacity) {
    EXPECT_GE(left, 0);
    used += most - left;
  }
  EXPECT_EQ(world.sum(used), 184);
}

TEST(Planner, places_fewer_blocks_than_ranks_and_none_at_all) {
  const Communicator world = Communicator::world();
  for (const std::string& policy : planned_policies()) {
    std::vector<CostItem> blocks;
    if (world.is_root()) blocks.push_back({{1, 1, 1}, 0, 1.0});
    EXPECT_EQ(plan_placement({.policy = policy}, world, k_planned_domain, blocks).owners.size(),
              blocks.size())
        << policy;
    EXPECT_TRUE(plan_placement({.policy = policy}, world, k_planned_domain, {}).owners.empty())
        << policy;
  }
}

}  // namespace
}  // namespace octant
