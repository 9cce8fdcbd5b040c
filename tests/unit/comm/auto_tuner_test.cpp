#include "comm/auto_tuner.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant {
namespace {

using enum Backend;

CommOptions short_windows() {
  CommOptions options;
  options.trial_calls = 3;
  options.probe_interval = 10;
  options.probe_calls = 3;
  return options;
}

// Makes calls of constant cost until `count` are made, deciding alone as on one rank; returns the
// backends used.
std::vector<Backend> make_calls(AutoTuner& tuner, const BackendTimes& costs, int count) {
  std::vector<Backend> used;
  for (int n = 0; n < count; ++n) {
    if (tuner.decision_due()) tuner.decide(tuner.times());
    used.push_back(tuner.backend());
    tuner.record(costs[static_cast<int>(tuner.backend())]);
  }
  return used;
}

TEST(AutoTuner, tries_each_backend_in_turn_and_settles_on_the_fastest) {
  AutoTuner tuner(short_windows(), backends_for(8));
  const auto used = make_calls(tuner, {3.0, 2.0, 1.0}, 10);
  EXPECT_EQ(used, (std::vector<Backend>{p2p, p2p, p2p, alltoall, alltoall, alltoall, ksection,
                                        ksection, ksection, ksection}));
  EXPECT_EQ(tuner.phase(), AutoTuner::Phase::production);
}

TEST(AutoTuner, leaves_all_to_all_out_of_large_runs) {
  AutoTuner tuner(short_windows(), backends_for(100'000));
  std::vector<Backend> expected{p2p, p2p, p2p, ksection, ksection, ksection};
  expected.resize(16, p2p);
  expected.resize(19, ksection);
  EXPECT_EQ(make_calls(tuner, {1.0, 0.0, 2.0}, 19), expected);
}

TEST(AutoTuner, first_call_of_a_window_is_not_timed) {
  AutoTuner tuner(short_windows(), backends_for(8));
  for (const double seconds : {100.0, 1.0, 3.0}) tuner.record(seconds);
  EXPECT_DOUBLE_EQ(tuner.times()[0], 2.0);
}

TEST(AutoTuner, probes_the_other_backends_in_turn_after_each_interval) {
  AutoTuner tuner(short_windows(), backends_for(8));
  const BackendTimes costs = {2.0, 1.0, 3.0};
  make_calls(tuner, costs, 9);
  std::vector<Backend> period(13, alltoall);
  std::fill(period.begin() + 10, period.end(), ksection);
  EXPECT_EQ(make_calls(tuner, costs, 13), period);
  std::fill(period.begin() + 10, period.end(), p2p);
  EXPECT_EQ(make_calls(tuner, costs, 13), period);
  std::fill(period.begin() + 10, period.end(), ksection);
  EXPECT_EQ(make_calls(tuner, costs, 13), period);
}

TEST(AutoTuner, switches_only_when_a_probe_is_more_than_20_percent_faster) {
  for (const double probed : {0.81, 0.79}) {
    AutoTuner tuner(short_windows(), backends_for(8));
    make_calls(tuner, {1.0, 2.0, 2.0}, 9);
    const auto used = make_calls(tuner, {1.0, probed, 2.0}, 14);
    EXPECT_EQ(used[10], alltoall);
    EXPECT_EQ(used[13], probed < 0.8 ? alltoall : p2p);
  }
}

TEST(AutoTuner, production_time_is_an_exponential_moving_average_of_weight_005) {
  AutoTuner tuner(short_windows(), backends_for(8));
  make_calls(tuner, {1.0, 2.0, 2.0}, 9);
  tuner.decide(tuner.times());
  tuner.record(3.0);
  EXPECT_DOUBLE_EQ(tuner.times()[0], 0.05 * 3.0 + 0.95 * 1.0);
  tuner.record(3.0);
  EXPECT_DOUBLE_EQ(tuner.times()[0], 0.05 * 3.0 + 0.95 * (0.05 * 3.0 + 0.95 * 1.0));
}

TEST(AutoTuner, follows_the_times_of_the_slowest_rank_and_not_its_own) {
  AutoTuner tuner(short_windows(), backends_for(8));
  for (int n = 0; n < 9; ++n) tuner.record(tuner.backend() == p2p ? 1.0 : 2.0);
  ASSERT_TRUE(tuner.decision_due());
  tuner.decide({9.0, 2.0, 3.0});
  EXPECT_EQ(tuner.backend(), alltoall);
}

TEST(AutoTuner, adapts_when_the_costs_change_for_good) {
  AutoTuner tuner(short_windows(), backends_for(8));
  make_calls(tuner, {1.0, 2.0, 3.0}, 50);
  const auto used = make_calls(tuner, {3.0, 2.0, 1.0}, 200);
  EXPECT_EQ(used.back(), ksection);
}

TEST(AutoTuner, a_call_before_a_decision_that_is_due_is_refused) {
  AutoTuner tuner(short_windows(), backends_for(8));
  EXPECT_THROW(tuner.decide({}), RunError);
  for (int n = 0; n < 9; ++n) tuner.record(1.0);
  EXPECT_THROW(tuner.record(1.0), RunError);
}

TEST(CommOptions, backend_is_read_from_a_parameter_file_by_name) {
  CommOptions options;
  ParameterSchema schema;
  declare(schema, options);
  EXPECT_FALSE(options.exchange.has_value());
  for (const Backend backend : k_all_backends) {
    schema.read_text("comm.exchange = \"" + name_of(backend) + "\"", "test.toml");
    EXPECT_EQ(options.exchange, backend);
  }
  EXPECT_THROW(schema.read_text("comm.exchange = \"pigeon\"", "test.toml"), InputError);
}

}  // namespace
}  // namespace octant
