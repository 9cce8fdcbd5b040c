#include "bench/block_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bench/balance_bench.hpp"
#include "bench/placement_replay.hpp"
#include "bench/timed_placement.hpp"
#include "core/error.hpp"

namespace octant::bench {
namespace {

TEST(RandomLeaves, FillTheCubeAndTouchLeavesOfNeighbouringLevelsOnly) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto leaves = random_leaves(4, 300, seed);
    EXPECT_GE(leaves.size(), 300U);
    EXPECT_LT(leaves.size(), 400U);
    double volume = 0.0;
    for (const placement::Leaf& leaf : leaves) volume += std::ldexp(1.0, -3 * leaf.level);
    EXPECT_EQ(volume, 64.0);
    // Contacts are found between leaves of the same and of neighbouring levels: every leaf inside
    // of the cube has one across each of its six faces.
    std::vector<int> faces(leaves.size(), 0);
    for (const placement::Contact& contact : placement::contacts(leaves, {1, 0, 0}))
      faces[static_cast<std::size_t>(contact.from)] += contact.bytes;
    for (std::size_t n = 0; n < leaves.size(); ++n) {
      const int end = (4 << leaves[n].level) - 1;
      int inner = 0;
      for (const std::int32_t c : leaves[n].place) inner += (c > 0) + (c < end);
      EXPECT_GE(faces[n], inner);
    }
  }
  EXPECT_THROW(random_leaves(4, 63, 0), InputError);
}

TEST(Balance, OneRankHasEverythingAndNoBorders) {
  const ClusteredCube cube{.cells = 32, .block_size = 8};
  const BalanceResult alone = measure_balance(cube, Decomposition::hilbert, 1);
  EXPECT_EQ(alone.imbalance, 1.0);
  EXPECT_EQ(alone.border_share, 0.0);
  EXPECT_EQ(alone.partners.most, 0);
}

TEST(Balance, BlocksOfOneCellWeighWhatTheirSumInLargerBlocksDoes) {
  const ClusteredCube cells{.cells = 16, .block_size = 1}, blocks{.cells = 16, .block_size = 4};
  const auto fine = block_weights(cells), coarse = block_weights(blocks);
  const double total = std::accumulate(fine.begin(), fine.end(), 0.0);
  EXPECT_GT(total, 16.0 * 16 * 16);
  EXPECT_NEAR(std::accumulate(coarse.begin(), coarse.end(), 0.0) / total, 1.0, 1e-12);
}

ReplayResult replay_one(const std::vector<RecordedStep>& steps,
                        const placement::PolicyOptions& policy, const ReplayOptions& options) {
  return replay(steps, {&policy, 1}, options).front();
}

// Two ranks of four blocks each, of which one costs as much as three others.
TEST(Replay, SplitsAStepIntoComputingAndWaitingForTheSlowestRank) {
  RecordedStep step{.step = 0, .blocks = {}};
  for (std::uint64_t key = 0; key < 8; ++key) step.blocks.push_back({0, key, 0, 1, 1e9});
  step.blocks[0].cost_ns = 3e9;
  ReplayOptions options;
  options.ranks = 2;
  options.latency = 0.0;
  options.bandwidth = 1e300;
  const ReplayResult once = replay_one({step}, {.name = "baseline"}, options);
  EXPECT_NEAR(once.compute, 5.0, 1e-12);
  EXPECT_NEAR(once.synchronisation, 1.0, 1e-12);
  EXPECT_NEAR(once.communication, 0.0, 1e-12);
  EXPECT_EQ(once.blocks_moved, 0);
  // What was measured in the first step counts when a block more comes in the second.
  RecordedStep next = step;
  next.step = 1;
  next.blocks.push_back({0, 8, 0, 1, 1e-3});
  const ReplayResult twice = replay_one({step, next}, {.name = "exact"}, options);
  EXPECT_EQ(twice.rebalancings, 2);
  EXPECT_NEAR(twice.synchronisation, 1.0, 1e-6);
  EXPECT_EQ(twice.blocks_moved, 1);
}

// Blocks of different levels and costs, replaced by eight with the same cost each: eight times the
// work, more evenly distributed over the same or eight times the ranks.
TEST(Replay, ReplacesBlocksByPartsOfTheSameCost) {
  RecordedStep step{.step = 0, .blocks = {}};
  for (std::uint64_t key = 0; key < 8; ++key)
    step.blocks.push_back({0, key, 0, 1, 1e9 * (1.0 + static_cast<double>(key % 3))});
  for (std::uint64_t key = 24; key < 32; ++key) step.blocks.push_back({1, key, 0, 2, 5e8});
  RecordedStep next = step;
  next.step = 1;
  next.blocks.pop_back();  // another mesh, placed by the costs of the first step
  ReplayOptions options;
  options.latency = 0.0;
  options.bandwidth = 1e300;
  options.ranks = 4;
  const ReplayResult whole = replay_one({step, next}, {.name = "exact"}, options);
  for (const int times : {1, 2}) {
    const int parts = 1 << 3 * times;
    options.subdivisions = times;
    options.ranks = 4;
    const ReplayResult refined = replay_one({step, next}, {.name = "exact"}, options);
    EXPECT_NEAR(refined.compute / parts, whole.compute, 1e-9);
    EXPECT_LT(refined.makespan_over_mean, whole.makespan_over_mean);
    options.ranks = 4 * parts;
    const ReplayResult spread = replay_one({step, next}, {.name = "lpt"}, options);
    EXPECT_NEAR(spread.compute, whole.compute, 1e-9);
  }
  options.subdivisions = 21;
  EXPECT_THROW(replay_one({step}, {.name = "exact"}, options), InputError);
}

// A cube of two blocks along each axis becomes one of four, with (3 * 4 - 2)^3 - 4^3 contacts.
TEST(Replay, PutsPartsNextToEachOther) {
  RecordedStep step{.step = 0, .blocks = {}};
  for (std::uint64_t key = 0; key < 8; ++key) step.blocks.push_back({0, key, 0, 1, 1e9});
  ReplayOptions options;
  options.ranks = 64;
  options.subdivisions = 1;
  const ReplayResult result = replay_one({step}, {.name = "baseline"}, options);
  EXPECT_EQ(result.messages_in_node + result.messages_off_node, 936);
}

TEST(TimedPlacement, CountsZonesAndTheirBlocks) {
  const std::vector<double> costs(512, 1.0);
  const placement::PolicyOptions zonal{.name = "zonal", .zone_ranks = 32};
  const TimedPlacement timed = place_timed(zonal, {costs}, 64);
  EXPECT_EQ(timed.owners, placement::place(zonal, {costs}, 64));
  EXPECT_EQ(timed.zones, 2);
  EXPECT_EQ(timed.largest_zone_blocks, 256);
  EXPECT_GT(timed.slowest_zone_seconds, 0.0);
  EXPECT_LT(timed.slowest_zone_seconds, timed.seconds);
  EXPECT_EQ(place_timed({.name = "exact"}, {costs}, 64).zones, 1);
}

// Two zones, each with its own planner: the time of planning is that of one of them.
TEST(Replay, PlansZonesInParallel) {
  RecordedStep step{.step = 0, .blocks = {}};
  for (std::uint64_t key = 0; key < 512; ++key) step.blocks.push_back({0, key, 0, 1, 1e9});
  ReplayOptions options;
  options.ranks = 64;
  const ReplayResult zones = replay_one({step}, {.name = "zonal", .zone_ranks = 32}, options);
  EXPECT_NEAR(zones.makespan_over_mean, 1.0, 1e-12);
  EXPECT_LE(zones.planning, zones.rebalancing);
  EXPECT_GT(zones.planning, 0.0);
}

}  // namespace
}  // namespace octant::bench
