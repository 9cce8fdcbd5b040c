#include "comm/clocks.hpp"

#include <gtest/gtest.h>

namespace octant {
namespace {

TEST(ClockAlignment, clocks_of_one_machine_agree_to_within_the_stated_error) {
  const ClockOffset own = align_clocks(Communicator::world());
  EXPECT_LE(std::abs(own.offset_ns), own.error_ns);
  if (Communicator::world().is_root()) {
    EXPECT_EQ(own.error_ns, 0);
  }
}

TEST(ClockAlignment, ranks_of_one_machine_share_a_clock) {
  const Communicator world = Communicator::world();
  const ClockOffset own = align_clocks(world, world.split_by_node());
  EXPECT_EQ(own.offset_ns, 0);
  EXPECT_EQ(own.error_ns, 0);
}

}  // namespace
}  // namespace octant
