#include "run/timers.hpp"

#include <gtest/gtest.h>

namespace octant {
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

TEST(TimeLeft, steady_steps_are_extrapolated) {
  TimeLeft left;
  for (int n = 0; n < 5; ++n) left.add(0.01, 2.0);
  EXPECT_NEAR(left.seconds(0.95), 190.0, 1e-9);
}

TEST(TimeLeft, one_slow_step_among_many_hardly_matters) {
  TimeLeft left;
  for (int n = 0; n < 100; ++n) left.add(0.001, 1.0);
  left.add(0.001, 6.0);
  EXPECT_GT(left.seconds(0.899), 899.0);
  EXPECT_LT(left.seconds(0.899), 1.15 * 899.0);
}

TEST(TimeLeft, follows_when_steps_become_dearer_for_good) {
  TimeLeft left;
  for (int n = 0; n < 100; ++n) left.add(0.001, 0.1);
  for (int n = 0; n < 60; ++n) left.add(0.001, 10.0);
  EXPECT_NEAR(left.seconds(0.1), 1000.0, 50.0);
}

TEST(TimeLeft, is_endless_before_the_first_step) {
  EXPECT_EQ(in_words(TimeLeft().seconds(1.0)), "years");
}

TEST(InWords, has_two_units) {
  EXPECT_EQ(in_words(0.3), "0 s");
  EXPECT_EQ(in_words(59.6), "1 min 0 s");
  EXPECT_EQ(in_words(3725.0), "1 h 2 min");
  EXPECT_EQ(in_words(100000.0), "1 d 3 h");
}

}  // namespace
}  // namespace octant
