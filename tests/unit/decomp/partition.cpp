#include "decomp/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/error.hpp"

namespace octant {
namespace {

std::vector<CostItem> uniform_blocks(const DomainShape& domain) {
  std::vector<CostItem> items;
  const auto& n = domain.base_blocks;
  for (BlockCoordinate z = 0; z < n[2]; ++z) {
    for (BlockCoordinate y = 0; y < n[1]; ++y) {
      for (BlockCoordinate x = 0; x < n[0]; ++x) items.push_back({{x, y, z}, 0, 1.0});
    }
  }
  return items;
}

// Blocks of four levels, with more refinement towards a few random places, and sub-cycled costs.
std::vector<CostItem> clustered_blocks(const DomainShape& domain, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<CostItem> items = uniform_blocks(domain);
  std::normal_distribution<double> offset;
  for (int clump = 0; clump < 4; ++clump) {
    std::array<double, 3> centre;
    for (int axis = 0; axis < 3; ++axis) {
      centre[axis] = std::uniform_real_distribution<double>(0.1, 0.9)(random) *
                     static_cast<double>(domain.base_blocks[axis]);
    }
    for (int n = 0; n < 1500; ++n) {
      const int level = 1 + static_cast<int>(random() % 3);
      BlockCoordinates c;
      for (int axis = 0; axis < 3; ++axis) {
        const double end = std::ldexp(static_cast<double>(domain.base_blocks[axis]), level);
        const double x = std::ldexp(centre[axis] + offset(random), level);
        c[axis] = static_cast<BlockCoordinate>(std::clamp(x, 0.0, end - 1.0));
      }
      items.push_back(
          {c, level, std::ldexp(1.0 + 0.1 * static_cast<double>(random() % 10), level)});
    }
  }
  return items;
}

std::vector<double> cost_per_rank(const std::vector<int>& owners, int ranks,
                                  const std::vector<CostItem>& items) {
  std::vector<double> cost(ranks, 0.0);
  for (std::size_t n = 0; n < items.size(); ++n) cost.at(owners[n]) += items[n].cost;
  return cost;
}

std::vector<double> cost_per_rank(const CurvePartition& partition, int ranks,
                                  const std::vector<CostItem>& items) {
  std::vector<int> owners;
  for (const CostItem& item : items)
    owners.push_back(partition.rank_of(item.coordinates, item.level));
  return cost_per_rank(owners, ranks, items);
}

double imbalance(const std::vector<double>& cost) {
  const double mean =
      std::accumulate(cost.begin(), cost.end(), 0.0) / static_cast<double>(cost.size());
  return *std::max_element(cost.begin(), cost.end()) / mean - 1.0;
}

// No partition can be better than one block: what a rank may have beyond its ideal share is the
// tolerance and, at each of the `cuts` that made it, the largest block.
double worst_imbalance(const std::vector<CostItem>& items, int ranks, int cuts) {
  double total = 0.0, largest = 0.0;
  for (const CostItem& item : items) {
    total += item.cost;
    largest = std::max(largest, item.cost);
  }
  return 0.05 + cuts * largest * ranks / total;
}

constexpr std::array k_rank_counts{1,  2,  3,  4,  5,  6,  7,  8,  11, 12,
                                   16, 22, 24, 30, 31, 48, 60, 61, 64, 67};

TEST(KSection, ranks_share_the_cost_to_five_percent_and_a_block) {
  const DomainShape domain{{8, 12, 6}};
  const Reduction alone = reduction_of_one();
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto items = clustered_blocks(domain, seed);
    const Work work = measure_work(domain, items, alone);
    for (const int ranks : k_rank_counts) {
      const auto cost = cost_per_rank(ksection_owners(ranks, work), ranks, items);
      EXPECT_LE(imbalance(cost), worst_imbalance(items, ranks, 6)) << ranks << " ranks";
    }
  }
}

TEST(Curves, ranks_share_the_cost_to_five_percent_and_a_block) {
  const DomainShape domain{{8, 12, 6}};
  const Reduction alone = reduction_of_one();
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto items = clustered_blocks(domain, seed);
    const Work work = measure_work(domain, items, alone);
    for (const int ranks : k_rank_counts) {
      for (const Curve curve : {Curve::hilbert, Curve::morton}) {
        const CurvePartition partition(curve, ranks, work, alone);
        const auto cost = cost_per_rank(partition, ranks, items);
        EXPECT_LE(imbalance(cost), worst_imbalance(items, ranks, 1)) << ranks << " ranks";
      }
    }
  }
}

TEST(KSection, a_thousand_ranks_share_a_large_grid_evenly) {
  const DomainShape domain{{40, 40, 40}};
  const Reduction alone = reduction_of_one();
  const auto items = uniform_blocks(domain);
  const Work work = measure_work(domain, items, alone);
  const auto cost = cost_per_rank(ksection_owners(1000, work), 1000, items);
  EXPECT_LE(imbalance(cost), 0.1);  // 64 blocks per rank, six cuts
  const CurvePartition curve(Curve::hilbert, 1000, work, alone);
  EXPECT_LE(imbalance(cost_per_rank(curve, 1000, items)), 0.05);
}

// 12 = 3 * 2 * 2: slabs along the longest axis, then halves of the then longest ones, x last.
TEST(KSection, uniform_blocks_are_cut_by_planes_along_the_longest_axis) {
  const DomainShape domain{{4, 4, 12}};
  const Reduction alone = reduction_of_one();
  const Work work = measure_work(domain, uniform_blocks(domain), alone);
  const auto owners = ksection_owners(12, work);
  for (std::size_t n = 0; n < owners.size(); ++n) {
    const BlockCoordinate y = work.points[n].centre[1], z = work.points[n].centre[2];
    EXPECT_EQ(owners[n], 2 * (z / 2) + y / 2);
  }
}

// Four layers cannot be divided by planes among three ranks; with steps, nobody has more than 22 of
// 64.
TEST(KSection, a_wall_gets_a_step_where_a_layer_is_too_coarse) {
  const DomainShape domain{{4, 4, 4}};
  const Reduction alone = reduction_of_one();
  const auto items = uniform_blocks(domain);
  const auto cost = cost_per_rank(ksection_owners(3, measure_work(domain, items, alone)), 3, items);
  EXPECT_LE(*std::max_element(cost.begin(), cost.end()), 22.0);
}

// Ten blocks in a row: halves have five each, but two blocks in a layer pair stay together if the
// tolerance allows 4 and 6.
TEST(KSection, a_tolerance_decides_whether_pairs_of_layers_are_cut) {
  const DomainShape domain{{1, 1, 10}};
  const Reduction alone = reduction_of_one();
  const auto items = uniform_blocks(domain);
  const Work work = measure_work(domain, items, alone);
  const auto first = [&](double tolerance) {
    return cost_per_rank(ksection_owners(2, work, tolerance), 2, items)[0];
  };
  EXPECT_EQ(first(0.0), 5.0);
  EXPECT_EQ(first(k_balance_tolerance), 5.0);
  EXPECT_EQ(std::abs(first(0.5) - 5.0), 1.0);
}

// 64 blocks in groups of eight siblings for five ranks.
TEST(Curves, a_tolerance_decides_whether_siblings_are_separated) {
  const DomainShape domain{{4, 4, 4}};
  const Reduction alone = reduction_of_one();
  const auto items = uniform_blocks(domain);
  const Work work = measure_work(domain, items, alone);
  const auto costs = [&](double tolerance) {
    return cost_per_rank(CurvePartition(Curve::hilbert, 5, work, alone, tolerance), 5, items);
  };
  EXPECT_EQ(costs(0.0), (std::vector{13.0, 13.0, 12.0, 13.0, 13.0}));
  EXPECT_EQ(costs(1.0), (std::vector{16.0, 8.0, 16.0, 8.0, 16.0}));
}

TEST(Partition, more_ranks_than_blocks_leaves_ranks_idle) {
  const DomainShape domain{{2, 1, 1}};
  const Reduction alone = reduction_of_one();
  const auto items = uniform_blocks(domain);
  const Work work = measure_work(domain, items, alone);
  for (const int ranks : {3, 7, 64}) {
    const auto cost = cost_per_rank(ksection_owners(ranks, work), ranks, items);
    EXPECT_EQ(*std::max_element(cost.begin(), cost.end()), 1.0) << ranks;
    const auto on_curve =
        cost_per_rank(CurvePartition(Curve::hilbert, ranks, work, alone), ranks, items);
    EXPECT_EQ(*std::max_element(on_curve.begin(), on_curve.end()), 1.0) << ranks;
  }
}

TEST(Partition, no_blocks_or_no_cost_is_legal) {
  const DomainShape domain{{2, 2, 2}};
  const Reduction alone = reduction_of_one();
  const Work nothing = measure_work(domain, {}, alone);
  EXPECT_TRUE(ksection_owners(6, nothing).empty());
  auto items = uniform_blocks(domain);
  for (auto& item : items) item.cost = 0.0;
  const Work free = measure_work(domain, items, alone);
  for (const int owner : ksection_owners(6, free)) EXPECT_LT(owner, 6);
  EXPECT_LT(CurvePartition(Curve::morton, 5, free, alone).locate({1, 1, 1}), 5);
}

TEST(Partition, coarse_blocks_go_where_their_middle_lies) {
  const DomainShape domain{{4, 1, 1}};
  const Reduction alone = reduction_of_one();
  // The costs of the finest blocks, two layers per base block, put the wall at layer 3 of 8.
  std::vector<CostItem> items;
  for (BlockCoordinate x = 0; x < 8; ++x) items.push_back({{x, 0, 0}, 1, x < 3 ? 5.0 : 3.0});
  // The middle of the coarse block at 1 is the lower face of layer 3.
  for (BlockCoordinate x = 0; x < 4; ++x) items.push_back({{x, 0, 0}, 0, 0.0});
  const auto owners = ksection_owners(2, measure_work(domain, items, alone));
  EXPECT_EQ(owners, (std::vector<int>{0, 0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1}));
}

TEST(Partition, impossible_blocks_and_costs_are_refused) {
  const DomainShape domain{{2, 2, 2}};
  const Reduction alone = reduction_of_one();
  for (const CostItem bad : {CostItem{{0, 0, 0}, 0, -1.0}, CostItem{{0, 0, 0}, 0, std::nan("")},
                             CostItem{{0, 4, 0}, 1, 1.0}, CostItem{{0, 0, -1}, 1, 1.0}}) {
    EXPECT_THROW(measure_work(domain, {&bad, 1}, alone), RunError);
  }
}

}  // namespace
}  // namespace octant
