#include "driver/time_left.hpp"

#include <gtest/gtest.h>

namespace octant::driver {
namespace {

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
}  // namespace octant::driver
