#include "comm/rank_tree.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

TEST(RankTree, factors_are_prime_and_descend) {
  EXPECT_EQ(RankTree(1).factors(), std::vector<int>{});
  EXPECT_EQ(RankTree(7).factors(), (std::vector<int>{7}));
  EXPECT_EQ(RankTree(12).factors(), (std::vector<int>{3, 2, 2}));
  EXPECT_EQ(RankTree(360).factors(), (std::vector<int>{5, 3, 3, 2, 2, 2}));
  EXPECT_EQ(RankTree(99991).factors(), (std::vector<int>{99991}));
}

TEST(RankTree, number_of_messages_is_that_of_equation_7) {
  EXPECT_EQ(RankTree(1).messages_per_exchange(), 0);
  EXPECT_EQ(RankTree(12).messages_per_exchange(), 4);
  EXPECT_EQ(RankTree(1024).messages_per_exchange(), 10);
}

TEST(RankTree, children_divide_their_group_evenly_and_in_order) {
  const RankTree tree(90);
  for (int rank = 0; rank < tree.ranks(); ++rank) {
    EXPECT_EQ(tree.group(0, rank), (RankRange{0, 90}));
    EXPECT_EQ(tree.group(tree.levels(), rank), (RankRange{rank, 1}));
    for (int level = 0; level < tree.levels(); ++level) {
      const RankRange group = tree.group(level, rank);
      int next = group.first;
      for (int index = 0; index < tree.factor(level); ++index) {
        const RankRange child = tree.child(level, rank, index);
        EXPECT_EQ(child.first, next);
        EXPECT_EQ(child.contains(rank), index == tree.child_index(level, rank));
        next = child.end();
      }
      EXPECT_EQ(next, group.end());
      EXPECT_EQ(tree.child(level, rank, tree.child_index(level, rank)),
                tree.group(level + 1, rank));
    }
  }
}

TEST(RankTree, partners_are_mutual_and_met_only_once) {
  const RankTree tree(12);
  for (int rank = 0; rank < tree.ranks(); ++rank) {
    std::set<int> partners;
    for (int level = 0; level < tree.levels(); ++level) {
      for (int index = 0; index < tree.factor(level); ++index) {
        const int partner = tree.partner(level, rank, index);
        EXPECT_TRUE(tree.child(level, rank, index).contains(partner));
        EXPECT_EQ(tree.partner(level, partner, tree.child_index(level, rank)), rank);
        if (partner != rank) {
          EXPECT_TRUE(partners.insert(partner).second);
        }
      }
    }
    EXPECT_EQ(static_cast<int>(partners.size()), tree.messages_per_exchange());
  }
}

TEST(RankTree, no_ranks_are_refused) { EXPECT_THROW(RankTree(0), RunError); }

}  // namespace
}  // namespace octant
