#include "decomp/placement/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "core/error.hpp"
#include "decomp/morton.hpp"
#include "decomp/placement/locality.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::placement {
namespace {

// Costs like those of blocks: between 50 and 100, most of them cheap.
std::vector<double> random_costs(int blocks, std::uint64_t seed) {
  std::vector<double> costs;
  for (int n = 0; n < blocks; ++n) {
    const double uniform =
        static_cast<double>((seed * 6364136223846793005ULL + (n + 1) * 0x9E3779B97F4A7C15ULL) *
                                0xBF58476D1CE4E5B9ULL >>
                            40) /
        static_cast<double>(1 << 24);
    costs.push_back(std::min(100.0, 50.0 + std::floor(-10.0 * std::log(1.0 - uniform))));
  }
  return costs;
}

// The smallest largest load of contiguous pieces, by trying all: O(n^2 r).
double best_contiguous(const std::vector<double>& costs, int ranks) {
  const std::size_t n = costs.size();
  std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
  least[0] = 0.0;
  for (int k = 0; k < ranks; ++k) {
    auto next = least;
    for (std::size_t end = 1; end <= n; ++end) {
      double piece = 0.0;
      for (std::size_t begin = end; begin-- > 0;) {
        piece += costs[begin];
        next[end] = std::min(next[end], std::max(least[begin], piece));
      }
    }
    least = next;
  }
  return least[n];
}

double largest_load(const std::vector<double>& costs, const Owners& owners, int ranks) {
  const auto sums = loads(costs, owners, ranks);
  return *std::max_element(sums.begin(), sums.end());
}

bool is_contiguous(const Owners& owners) { return std::is_sorted(owners.begin(), owners.end()); }

int ranks_in_use(const Owners& owners) {
  return static_cast<int>(std::set<std::int32_t>(owners.begin(), owners.end()).size());
}

TEST(Placement, exact_is_the_best_of_all_contiguous_partitions) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const int blocks = 1 + static_cast<int>(seed * 7 % 13), ranks = 1 + static_cast<int>(seed % 6);
    const auto costs = random_costs(blocks, seed);
    const Owners owners = exact(costs, ranks);
    ASSERT_TRUE(is_contiguous(owners));
    ASSERT_EQ(largest_load(costs, owners, ranks), best_contiguous(costs, ranks))
        << blocks << " blocks, " << ranks << " ranks, seed " << seed;
    ASSERT_EQ(ranks_in_use(owners), std::min(blocks, ranks));
  }
}

TEST(Placement, exact_finds_costs_that_are_not_whole_numbers_and_differ_by_orders) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    auto costs = random_costs(12, seed);
    for (std::size_t n = 0; n < costs.size(); ++n)
      costs[n] = std::exp(0.3 * (costs[n] - 50.0)) / 3.0;
    EXPECT_NEAR(largest_load(costs, exact(costs, 4), 4) / best_contiguous(costs, 4), 1.0, 1e-14);
  }
}

TEST(Placement, dynamic_programming_with_any_sizes_agrees_with_exact) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const int blocks = 1 + static_cast<int>(seed * 11 % 40), ranks = 1 + static_cast<int>(seed % 9);
    const auto costs = random_costs(blocks, seed);
    const Owners owners = any_sizes(costs, ranks);
    ASSERT_TRUE(is_contiguous(owners));
    ASSERT_EQ(largest_load(costs, owners, ranks), largest_load(costs, exact(costs, ranks), ranks))
        << blocks << " blocks, " << ranks << " ranks, seed " << seed;
    ASSERT_EQ(ranks_in_use(owners), std::min(blocks, ranks));
  }
  const auto many = random_costs(2080, 1);
  EXPECT_EQ(largest_load(many, any_sizes(many, 512), 512),
            largest_load(many, exact(many, 512), 512));
}

// Two sizes suffice where the best pieces happen to have them, as for equal costs.
TEST(Placement, two_sizes_are_as_even_as_exact_for_equal_costs_and_never_better) {
  for (int blocks = 8; blocks < 60; ++blocks) {
    const std::vector<double> equal(blocks, 2.5);
    EXPECT_EQ(largest_load(equal, two_sizes(equal, 8), 8), largest_load(equal, exact(equal, 8), 8));
    const auto costs = random_costs(blocks, static_cast<std::uint64_t>(blocks));
    EXPECT_GE(largest_load(costs, two_sizes(costs, 8), 8), largest_load(costs, exact(costs, 8), 8));
  }
}

TEST(Placement, two_sizes_are_the_best_of_those_sizes) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const int blocks = 4 + static_cast<int>(seed % 9), ranks = 4;
    const auto costs = random_costs(blocks, seed);
    double best = std::numeric_limits<double>::infinity();
    for (int choice = 0; choice < 1 << ranks; ++choice) {  // bit k: piece k is large
      if (__builtin_popcount(static_cast<unsigned>(choice)) != blocks % ranks) continue;
      double largest = 0.0;
      for (int k = 0, begin = 0; k < ranks; ++k) {
        const int end = begin + blocks / ranks + (choice >> k & 1);
        double piece = 0.0;
        for (; begin < end; ++begin) piece += costs[begin];
        largest = std::max(largest, piece);
      }
      best = std::min(best, largest);
    }
    const Owners owners = two_sizes(costs, ranks);
    EXPECT_TRUE(is_contiguous(owners));
    EXPECT_EQ(largest_load(costs, owners, ranks), best);
  }
}

TEST(Placement, no_policy_leaves_a_rank_empty_or_a_block_out) {
  for (const int blocks : {33, 70, 200}) {
    const auto costs = random_costs(blocks, 5);
    const int ranks = 33;
    for (const Owners& owners :
         {baseline(costs, ranks), exact(costs, ranks), longest_first(costs, ranks),
          two_sizes(costs, ranks), any_sizes(costs, ranks), two_sizes_chunked(costs, ranks, 10),
          cplx(costs, ranks, 37.0), node_windows(costs, ranks, 8)}) {
      EXPECT_EQ(std::ssize(owners), blocks);
      EXPECT_EQ(ranks_in_use(owners), ranks);
      EXPECT_GE(*std::min_element(owners.begin(), owners.end()), 0);
      EXPECT_LT(*std::max_element(owners.begin(), owners.end()), ranks);
    }
  }
}

TEST(Placement, cplx_is_its_start_at_0_and_longest_first_at_100_and_never_worse_than_its_start) {
  const auto costs = random_costs(410, 3);
  const int ranks = 187;
  EXPECT_EQ(cplx(costs, ranks, 0.0), exact(costs, ranks));
  EXPECT_EQ(cplx(costs, ranks, 100.0), longest_first(costs, ranks));
  double before = largest_load(costs, exact(costs, ranks), ranks);
  for (const double percent : {5.0, 25.0, 50.0, 75.0})
    EXPECT_LE(largest_load(costs, cplx(costs, ranks, percent), ranks), before);
}

// CPLX as its authors have it: two sizes, or equal ones where they come out even, and no packing.
double largest_load_of_the_authors(const std::vector<double>& costs, int ranks, double percent) {
  const bool even = std::ssize(costs) % ranks == 0;
  const Owners start = even ? baseline(costs, ranks) : two_sizes_chunked(costs, ranks);
  auto load = loads(costs, start, ranks);
  std::vector<int> order(load.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return load[a] > load[b]; });
  const double mean = std::accumulate(load.begin(), load.end(), 0.0) / ranks;
  std::size_t top = 0, bottom = order.size();
  double surplus = 0.0;
  std::set<int> chosen;
  while (chosen.size() < static_cast<std::size_t>(percent / 100.0 * ranks)) {
    const int rank = surplus <= 0.0 ? order[top++] : order[--bottom];
    chosen.insert(rank);
    surplus += load[rank] - mean;
  }
  std::vector<double> blocks;
  for (std::size_t n = 0; n < costs.size(); ++n)
    if (chosen.contains(start[n])) blocks.push_back(costs[n]);
  std::sort(blocks.rbegin(), blocks.rend());
  std::multiset<double> dealt;
  for (const int rank : chosen) load[rank] = 0.0;
  for (std::size_t n = 0; n < chosen.size(); ++n) dealt.insert(0.0);
  for (const double cost : blocks) {
    const double least = *dealt.begin();
    dealt.erase(dealt.begin());
    dealt.insert(least + cost);
  }
  return std::max(*dealt.rbegin(), *std::max_element(load.begin(), load.end()));
}

TEST(Placement, cplx_is_never_above_what_its_authors_get) {
  for (const auto& [ranks, blocks] : {std::pair(64, 150), {128, 300}, {512, 1024}, {512, 1100}})
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const auto costs = random_costs(blocks, seed);
      EXPECT_LE(largest_load(costs, cplx(costs, ranks, 25.0), ranks),
                largest_load_of_the_authors(costs, ranks, 25.0))
          << ranks << " ranks, " << blocks << " blocks, seed " << seed;
    }
}

// The blocks that lie on another node than the contiguous blocks around them.
int strays(const Owners& owners, int ranks_per_node) {
  int count = 0;
  for (std::size_t n = 1; n + 1 < owners.size(); ++n) {
    const int node = owners[n] / ranks_per_node;
    count += node != owners[n - 1] / ranks_per_node && node != owners[n + 1] / ranks_per_node;
  }
  return count;
}

TEST(Placement, node_windows_are_contiguous_but_for_a_few_blocks_and_never_worse_than_exact) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto costs = random_costs(281, seed);
    const int ranks = 128, per_node = 16;
    const Owners owners = node_windows(costs, ranks, per_node);
    EXPECT_LE(strays(owners, per_node), 281 / 32);
    EXPECT_LE(largest_load(costs, owners, ranks), largest_load(costs, exact(costs, ranks), ranks));
  }
}

TEST(Placement, node_windows_of_two_blocks_per_rank_are_as_even_as_pairs_chosen_from_everywhere) {
  const int ranks = 512;
  std::mt19937 generator(5);
  std::normal_distribution<double> bell(60.0, 5.0);
  std::vector<double> costs;
  for (int n = 0; n < 2 * ranks; ++n) costs.push_back(std::clamp(bell(generator), 50.0, 75.0));
  auto sorted = costs;
  std::sort(sorted.begin(), sorted.end());
  double best = 0.0;  // the most expensive with the cheapest, and so on
  for (int n = 0; n < ranks; ++n) best = std::max(best, sorted[n] + sorted[2 * ranks - 1 - n]);
  EXPECT_LE(largest_load(costs, node_windows(costs, ranks, 16), ranks), 1.01 * best);
}

// 16^3 equal blocks along the Morton curve.
std::vector<Leaf> cube() {
  std::vector<Leaf> leaves;
  for (Key key = 0; key < 4096; ++key) {
    const BlockCoordinates c = morton_decode(key);
    leaves.push_back({4, {c[0], c[1], c[2]}});
  }
  return leaves;
}

// Pieces of the curve have loads of 100 and 80. The best exchange gives a block of 20 for one of 9
// or 11: 15 or 5 would leave 95.
TEST(Placement, node_windows_exchange_the_blocks_that_even_out_two_ranks) {
  for (const double best : {9.0, 11.0}) {
    std::vector<double> costs(60, 1.0);
    costs.insert(costs.end(), {20.0, 20.0, 20.0, 15.0, best, 5.0});
    costs.resize(costs.size() + static_cast<std::size_t>(40.0 - best), 1.0);
    EXPECT_EQ(largest_load(costs, exact(costs, 2), 2), 100.0);
    EXPECT_EQ(largest_load(costs, node_windows(costs, 2, 1), 2), 91.0);
  }
}

TEST(Placement, node_windows_that_know_the_mesh_send_fewer_bytes_for_a_64th_of_the_load) {
  const auto leaves = cube();
  const auto touching = contacts(leaves);
  const int ranks = 1800;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (const int per_node : {8, 16, 32}) {
      const auto costs = random_costs(4096, seed);
      const auto off_node = [&](const Owners& owners) {
        return traffic(touching, owners, per_node).off_node;
      };
      const Owners blind = node_windows(costs, ranks, per_node);
      const Owners owners = node_windows(costs, ranks, per_node, leaves);
      EXPECT_LT(off_node(owners), 0.995 * off_node(blind)) << seed << ' ' << per_node;
      EXPECT_LE(off_node(owners), off_node(baseline(costs, ranks))) << seed << ' ' << per_node;
      EXPECT_LE(largest_load(costs, owners, ranks),
                (1.0 + 1.0 / 64) * largest_load(costs, blind, ranks));
      EXPECT_EQ(ranks_in_use(owners), ranks);
    }
}

TEST(Placement, zones_cover_all_blocks_and_ranks_in_whole_nodes_of_equal_cost) {
  const auto costs = random_costs(1000, 8);
  const auto parts = zones(costs, 450, 100, 16);
  std::int64_t block = 0;
  int rank = 0;
  for (const Zone& zone : parts) {
    EXPECT_EQ(zone.first_block, block);
    EXPECT_EQ(zone.first_rank, rank);
    EXPECT_LE(zone.ranks, 100);
    EXPECT_EQ(zone.first_rank % 16, 0);
    block += zone.blocks;
    rank += zone.ranks;
    double cost = 0.0;
    for (std::int64_t n = 0; n < zone.blocks; ++n) cost += costs[zone.first_block + n];
    EXPECT_NEAR(cost / zone.ranks, 60.0 * 1000 / 450, 8.0);
  }
  EXPECT_EQ(block, 1000);
  EXPECT_EQ(rank, 450);
}

TEST(Placement, no_policy_gives_a_rank_more_blocks_than_it_has_memory_for) {
  const auto costs = random_costs(200, 4);
  const int ranks = 33;
  for (const std::string& name : policy_names())
    for (const std::int64_t most : {7, 8, 100}) {
      PolicyOptions options{.name = name, .ranks_per_node = 8};
      const Owners free = place(options, {costs}, ranks);
      options.most_blocks = most;
      const Owners owners = place(options, {costs}, ranks);
      std::vector<std::int64_t> count(ranks, 0);
      for (const std::int32_t owner : owners) ++count[owner];
      EXPECT_LE(*std::max_element(count.begin(), count.end()), most) << name;
      EXPECT_TRUE(most < 100 || owners == free) << name;
    }
  EXPECT_THROW(within_capacity(costs, baseline(costs, ranks), Capacity(ranks, 6)), InputError);
  EXPECT_THROW(policy_of({.name = "best"}), InputError);
}

TEST(WithinCapacity, moves_the_cheapest_blocks_to_the_nearest_ranks_with_capacity) {
  const std::vector<double> costs{3.0, 1.0, 2.0, 4.0, 5.0};
  const Owners crowded{1, 1, 1, 1, 1};
  EXPECT_EQ(within_capacity(costs, crowded, {0, 2, 1, 9}), (Owners{3, 2, 3, 1, 1}));
  EXPECT_EQ(within_capacity(costs, crowded, {0, 5, 0, 0}), crowded);
  EXPECT_THROW(within_capacity(costs, crowded, {1, 1, 1, 1}), InputError);
}

TEST(Placement, refuses_costs_that_are_no_positive_numbers) {
  const std::vector<double> zero{1.0, 0.0}, none{1.0, std::nan("")}, fine{1.0};
  EXPECT_THROW(exact(zero, 2), InputError);
  EXPECT_THROW(longest_first(none, 2), InputError);
  EXPECT_THROW(baseline(fine, 0), InputError);
  EXPECT_THROW(cplx(fine, 1, 101.0), InputError);
}

TEST(Traffic, counts_faces_edges_and_corners_on_one_level_and_across_two) {
  // One refined root between two whole ones along x.
  std::vector<Leaf> leaves{{0, {0, 0, 0}}};
  for (int n = 0; n < 8; ++n) leaves.push_back({1, {2 + (n & 1), n >> 1 & 1, n >> 2}});
  leaves.push_back({0, {2, 0, 0}});
  const ContactBytes bytes{100, 10, 1};
  const auto touching = contacts(leaves, bytes);
  for (const Contact& contact : touching)
    EXPECT_EQ(bytes_between(leaves[contact.from], leaves[contact.to], bytes), contact.bytes);
  EXPECT_EQ(bytes_between(leaves.front(), leaves.back(), bytes), 0);
  // Each whole root touches four fine leaves by face; the fine ones touch each other: 12 faces, 12
  // edges, 4 corners; all in both directions.
  const Owners alone(leaves.size(), 0);
  EXPECT_EQ(traffic(touching, alone, 1).all, 2 * (8 * 100 + 12 * 100 + 12 * 10 + 4));
  EXPECT_EQ(traffic(touching, alone, 1).off_rank, 0);
  Owners owners(leaves.size(), 1);
  owners.front() = 0;
  owners.back() = 2;
  EXPECT_EQ(traffic(touching, owners, 2).off_rank, 2 * 800);
  EXPECT_EQ(traffic(touching, owners, 2).off_node, 2 * 400);
}

}  // namespace
}  // namespace octant::placement
