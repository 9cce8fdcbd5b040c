#include "telemetry/telemetry_options.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant::telemetry {
namespace {

TEST(Trigger, fires_where_a_phase_is_far_above_its_median) {
  Trigger trigger("wait > 5 * median");
  EXPECT_EQ(trigger.phase(), Phase::wait);
  EXPECT_FALSE(trigger.fires(100.0)) << "there is no median yet";
  for (int n = 0; n < 8; ++n) EXPECT_FALSE(trigger.fires(1.0));
  EXPECT_FALSE(trigger.fires(4.9));
  EXPECT_TRUE(trigger.fires(5.1));
}

TEST(Trigger, fires_above_a_number_of_seconds) {
  Trigger whole("step > 0.5 s"), small("collective > 20 ms");
  EXPECT_FALSE(whole.phase().has_value());
  EXPECT_FALSE(whole.fires(0.4));
  EXPECT_TRUE(whole.fires(0.6));
  EXPECT_FALSE(small.fires(0.019));
  EXPECT_TRUE(small.fires(0.021));
}

TEST(Trigger, never_fires_without_a_text) {
  Trigger trigger("");
  EXPECT_FALSE(trigger.is_set());
  EXPECT_FALSE(trigger.fires(1e9));
}

TEST(Trigger, refuses_what_it_cannot_understand) {
  for (const char* text : {"wait", "waiting > 5 s", "wait < 5 s", "wait > five s", "wait > 5",
                           "wait > -1 s", "wait > 5 * mean", "wait > 5 s or so"})
    EXPECT_THROW(Trigger{text}, InputError) << text;
}

}  // namespace
}  // namespace octant::telemetry
