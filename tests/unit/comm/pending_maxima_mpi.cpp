#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "comm/communicator.hpp"

namespace octant {
namespace {

TEST(PendingMaximaMpi, largest_values_arrive_while_ranks_do_other_work) {
  const auto world = Communicator::world();
  const int rank = world.rank(), last = world.size() - 1;
  PendingMaxima maxima(world, {1.0 * rank, -2.0 * rank, 0.5});
  EXPECT_EQ(world.max(rank), last);
  PendingMaxima moved = std::move(maxima);
  const auto values = moved.wait();
  EXPECT_EQ(std::vector<double>(values.begin(), values.end()), (std::vector{1.0 * last, 0.0, 0.5}));
}

TEST(PendingMaximaMpi, those_nobody_waits_for_do_not_disturb_others) {
  const auto world = Communicator::world();
  { const PendingMaxima forgotten(world, {1.0}); }
  PendingMaxima maxima(world, {2.0 * world.rank()});
  EXPECT_EQ(maxima.wait()[0], 2.0 * (world.size() - 1));
}

}  // namespace
}  // namespace octant
