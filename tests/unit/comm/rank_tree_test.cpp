#include "comm/rank_tree.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "tests/unit/comm/tree_messages.hpp"

namespace octant {
namespace {

// Numbers with small and with large prime factors, and their neighbours.
constexpr std::array k_rank_counts{1, 2, 3, 7, 11, 12, 13, 22, 31, 61, 64, 67, 90, 127, 129, 1009};

TEST(RankTree, small_prime_factors_descend) {
  EXPECT_EQ(RankTree(1).factors(), std::vector<int>{});
  EXPECT_EQ(RankTree(7).factors(), (std::vector<int>{7}));
  EXPECT_EQ(RankTree(12).factors(), (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(RankTree(360).factors(), (std::vector<int>{5, 3, 3, 2, 2, 2}));
}

TEST(RankTree, other_numbers_of_ranks_are_halved) {
  EXPECT_EQ(RankTree(11).factors(), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(RankTree(100003).factors(), std::vector<int>(17, 2));
  EXPECT_EQ(RankTree(2147483647).factors(), std::vector<int>(31, 2));
}

TEST(RankTree, number_of_messages_is_that_of_equation_7) {
  EXPECT_EQ(messages_per_exchange(RankTree(1), 0), 0);
  EXPECT_EQ(messages_per_exchange(RankTree(12), 11), 4);
  EXPECT_EQ(messages_per_exchange(RankTree(1024), 1), 10);
  EXPECT_EQ(messages_per_exchange(RankTree(100000), 1), 25);
}

// A prime number of ranks costs at most half again as much as the power of two beside it.
TEST(RankTree, no_number_of_ranks_needs_many_messages) {
  for (const int ranks : {61, 67, 100003, 2147483647}) {
    const RankTree tree(ranks);
    for (const int rank : {0, 1, ranks / 2, ranks - 1}) {
      EXPECT_LE(messages_per_exchange(tree, rank), tree.levels());
      EXPECT_GE(messages_per_exchange(tree, rank), tree.levels() - 1);
    }
  }
}

TEST(RankTree, children_divide_their_group_evenly_and_in_order) {
  for (const int ranks : k_rank_counts) {
    const RankTree tree(ranks);
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(tree.group(0, rank), (RankRange{0, ranks}));
      EXPECT_EQ(tree.group(tree.levels(), rank), (RankRange{rank, 1}));
      for (int level = 0; level < tree.levels(); ++level) {
        const RankRange group = tree.group(level, rank);
        int next = group.first, fewest = group.count, most = 0;
        for (int index = 0; index < tree.factor(level); ++index) {
          const RankRange child = tree.child(level, rank, index);
          EXPECT_EQ(child.first, next);
          EXPECT_EQ(child.contains(rank), index == tree.child_index(level, rank));
          next = child.end();
          fewest = std::min(fewest, child.count);
          most = std::max(most, child.count);
        }
        EXPECT_EQ(next, group.end());
        EXPECT_LE(most - fewest, 1);
        EXPECT_EQ(tree.child(level, rank, tree.child_index(level, rank)),
                  tree.group(level + 1, rank));
      }
    }
  }
}

// Whoever sends to a rank is among those that it expects, and nobody else.
TEST(RankTree, every_rank_has_one_partner_in_every_sibling_that_knows_it) {
  for (const int ranks : k_rank_counts) {
    const RankTree tree(ranks);
    std::int64_t sent = 0, expected = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      for (int level = 0; level < tree.levels(); ++level) {
        for (int index = 0; index < tree.factor(level); ++index) {
          if (index == tree.child_index(level, rank)) continue;
          const auto senders = tree.senders(level, rank, index);
          EXPECT_LE(senders.size(), 2u);
          expected += static_cast<std::int64_t>(senders.size());
          if (tree.child(level, rank, index).count == 0) continue;
          const int partner = tree.partner(level, rank, index);
          EXPECT_TRUE(tree.child(level, rank, index).contains(partner));
          const auto back = tree.senders(level, partner, tree.child_index(level, rank));
          EXPECT_EQ(std::count(back.begin(), back.end(), rank), 1);
        }
      }
      sent += messages_per_exchange(tree, rank);
    }
    EXPECT_EQ(sent, expected) << ranks << " ranks";
  }
}

TEST(RankTree, no_ranks_are_refused) { EXPECT_THROW(RankTree(0), RunError); }

}  // namespace
}  // namespace octant
