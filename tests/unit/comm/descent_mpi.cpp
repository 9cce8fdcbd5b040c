#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "comm/rank_tree.hpp"

namespace octant {
namespace {

// Every rank gives a number and its rank, and sends its rank to each child of its group.
TEST(Descent, sums_and_items_stay_within_groups) {
  const Communicator world = Communicator::world();
  const int rank = world.rank();
  Descent descent(world);
  while (!descent.ends()) {
    const RankTree& tree = descent.tree();
    const RankRange group = tree.group(descent.level(), rank);
    std::array<std::int64_t, 2> sums{1, rank};
    descent.sum_in_place(sums);
    EXPECT_EQ(sums[0], group.count);
    EXPECT_EQ(2 * sums[1], group.count * (2 * group.first + group.count - 1));

    std::vector<int> children;
    for (int index = 0; index < tree.factor(descent.level()); ++index)
      if (tree.child(descent.level(), rank, index).count > 0) children.push_back(index);
    const std::vector<int> items(children.size(), rank);
    const std::vector<int> received = descent.route_to_children<int>(children, items);
    std::array<std::int64_t, 2> all{0, 0};
    for (const int item : received) {
      ++all[0];
      all[1] += item;
    }
    descent.sum_in_place(all);  // over the child's ranks
    EXPECT_EQ(all, sums);
  }
}

}  // namespace
}  // namespace octant
