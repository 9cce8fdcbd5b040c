#include "amr/block_meter.hpp"

#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "core/error.hpp"

namespace octant {
namespace {

TEST(RemovePreemption, takes_what_was_lost_from_the_piece_that_stands_out) {
  std::vector<double> times{10.0, 11.0, 4010.0, 9.0, 10.0};
  remove_preemption(times, 4000.0);
  EXPECT_EQ(times, (std::vector<double>{10.0, 11.0, 10.0, 9.0, 10.0}));
}

TEST(RemovePreemption, never_takes_more_than_down_to_the_median) {
  std::vector<double> times{10.0, 20.0, 30.0};
  remove_preemption(times, 1000.0);
  EXPECT_EQ(times, (std::vector<double>{10.0, 20.0, 20.0}));
  remove_preemption(times, 0.0);
  EXPECT_EQ(times, (std::vector<double>{10.0, 20.0, 20.0}));
  std::vector<double> none;
  remove_preemption(none, 5.0);
}

TEST(SyntheticLoad, loads_the_blocks_that_it_names) {
  const SyntheticLoad load({"2:77:10", "2:77:3", "0:5:4"});
  EXPECT_EQ(load.factor(2, Key{77}), 10.0);
  EXPECT_EQ(load.factor(1, Key{77}), 1.0);
  EXPECT_EQ(load.factor(0, Key{5}), 4.0);
  EXPECT_TRUE(SyntheticLoad({}).is_empty());
}

TEST(SyntheticLoad, draws_its_share_of_blocks) {
  const SyntheticLoad load({"random:0.2:8"});
  int loaded = 0;
  for (std::uint64_t key = 0; key < 10'000; ++key) {
    loaded += load.factor(1, Key{key}) == 8.0;
    EXPECT_EQ(load.factor(1, Key{key}), SyntheticLoad({"random:0.2:8"}).factor(1, Key{key}));
  }
  EXPECT_NEAR(loaded, 2000, 200);  // five standard deviations
}

TEST(SyntheticLoad, refuses_what_it_cannot_understand) {
  for (const char* text : {"", "1:2", "1:2:0.5", "a:b:c", "random:0.1", "1:2:3:4", "random:x:2"})
    EXPECT_THROW(SyntheticLoad({text}), InputError) << text;
}

TEST(Burn, takes_as_much_processor_time_as_was_asked_for) {
  const std::int64_t before = thread_cpu_ns();
  burn(2'000'000);
  EXPECT_GE(thread_cpu_ns() - before, 2'000'000);
}

TEST(DebugOptions, slow_ranks_are_those_named_and_those_of_the_slow_node) {
  DebugOptions options;
  EXPECT_EQ(options.slowness(0, 0), 1.0);
  options.slow_ranks = {3};
  options.slow_node = 2;
  options.slow_factor = 5.0;
  EXPECT_EQ(options.slowness(3, 0), 5.0);
  EXPECT_EQ(options.slowness(4, 2), 5.0);
  EXPECT_EQ(options.slowness(4, 1), 1.0);
}

}  // namespace
}  // namespace octant
