#include "comm/joint_sums.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace octant {
namespace {

TEST(JointSums, gives_each_part_its_own_totals_in_the_order_of_adding) {
  const auto world = Communicator::world();
  const int ranks = world.size();
  std::array<ReproducibleSum, 2> first;
  first[0] += 0.25;
  first[1] += world.rank();
  std::array<ReproducibleSum, 1> second;
  second[0] += -1.0;
  std::vector<int> order;
  JointSums joint(world);
  joint.add(first, std::array<std::int64_t, 1>{3}, [&](auto sums, auto counts) {
    order.push_back(1);
    ASSERT_EQ(sums.size(), 2u);
    EXPECT_EQ(sums[0].to_double(), 0.25 * ranks);
    EXPECT_EQ(sums[1].to_double(), 0.5 * ranks * (ranks - 1));
    ASSERT_EQ(counts.size(), 1u);
    EXPECT_EQ(counts[0], 3 * ranks);
  });
  joint.add({}, {}, [&](auto sums, auto counts) {
    order.push_back(2);
    EXPECT_TRUE(sums.empty() && counts.empty());
  });
  joint.add(second, std::array<std::int64_t, 1>{world.rank()}, [&](auto sums, auto counts) {
    order.push_back(3);
    EXPECT_EQ(sums[0].to_double(), -ranks);
    EXPECT_EQ(counts[0], ranks * (ranks - 1) / 2);
  });
  joint.reduce();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  joint.reduce();  // nothing was added since
  EXPECT_EQ(order.size(), 3u);
}

}  // namespace
}  // namespace octant
