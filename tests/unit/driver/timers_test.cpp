#include "driver/timers.hpp"

#include <gtest/gtest.h>

namespace octant::driver {
namespace {

TEST(Timers, parts_and_what_was_not_timed_are_the_whole_time) {
  const Clock outside;
  Timers timers;
  const auto pass = [](double seconds) {
    for (const Clock clock; clock.seconds() < seconds;) {
    }
  };
  pass(0.002);
  {
    const auto outer = timers.time("outer");
    pass(0.001);
    const auto inner = timers.time("inner");
    pass(0.001);
  }
  pass(0.002);
  const double counted = timers.total_seconds() + timers.untimed_seconds();
  EXPECT_LE(counted, outside.seconds());
  EXPECT_GE(timers.untimed_seconds(), 0.004);
  EXPECT_GE(timers.seconds("outer"), 0.001);
  EXPECT_GE(timers.seconds("inner"), 0.001);
}

TEST(Timers, begin_anew) {
  Timers timers;
  { const auto timing = timers.time("part"); }
  timers.reset();
  EXPECT_EQ(timers.total_seconds(), 0.0);
}

}  // namespace
}  // namespace octant::driver
