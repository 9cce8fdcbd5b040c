#include "decomp/work.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "decomp/partition.hpp"

namespace octant {
namespace {

TEST(Cost, the_memory_of_a_block_is_that_of_its_cells_and_a_little_more) {
  const double numbers = 512 * 10 * 8;
  EXPECT_GE(block_bytes(8, 10), numbers);
  EXPECT_LE(block_bytes(8, 10), 1.1 * numbers);
}

TEST(Cost, the_memory_of_a_particle_is_that_of_its_columns_and_a_little_more) {
  EXPECT_GE(particle_bytes(8), 64);
  EXPECT_LE(particle_bytes(8), 1.1 * 64);
}

TEST(Cost, slow_ranks_count_more_but_never_more_than_twice) {
  const LevelTime mean{100, 10};
  EXPECT_DOUBLE_EQ(time_factor(0.5, {12, 1}, mean), 1.1);
  EXPECT_DOUBLE_EQ(time_factor(0.5, {8, 1}, mean), 0.9);
  EXPECT_DOUBLE_EQ(time_factor(0.5, {1000, 1}, mean), 2.0);
  EXPECT_DOUBLE_EQ(time_factor(1.0, {1, 1}, mean), 0.5);
  EXPECT_DOUBLE_EQ(time_factor(0.0, {1000, 1}, mean), 1.0);
}

TEST(Cost, levels_without_measurements_are_left_alone) {
  EXPECT_DOUBLE_EQ(time_factor(0.5, {0, 0}, {100, 10}), 1.0);
  EXPECT_DOUBLE_EQ(time_factor(0.5, {0, 10}, {0, 10}), 1.0);
}

TEST(Cost, factors_compare_each_level_with_its_own_mean) {
  const std::array<LevelTime, 2> local{{{200, 10}, {300, 10}}};
  const Reduction with_another_rank{[](std::span<std::int64_t> sums) {
                                      const std::array<std::int64_t, 4> other{0, 10, 300, 10};
                                      for (int n = 0; n < 4; ++n) sums[n] += other[n];
                                    },
                                    [](std::span<std::int64_t>) {}};
  const auto factors = time_factors(0.5, local, with_another_rank);
  ASSERT_EQ(factors.size(), 2u);
  EXPECT_DOUBLE_EQ(factors[0], 1.5);
  EXPECT_DOUBLE_EQ(factors[1], 1.0);
}

TEST(BalanceOptions, substeps_count_towards_time_and_not_towards_memory) {
  BalanceOptions options;
  EXPECT_EQ(options.substeps(3, true), 8.0);
  EXPECT_EQ(options.substeps(3, false), 1.0);
  options.cost = BalanceCost::memory;
  EXPECT_EQ(options.substeps(3, true), 1.0);
}

TEST(BalanceOptions, a_threshold_is_a_ratio_of_maximum_to_mean) {
  BalanceOptions options;
  for (const double sound : {0.0, 1.1}) {
    options.imbalance_threshold = sound;
    EXPECT_NO_THROW(options.check());
  }
  options.imbalance_threshold = 0.1;
  EXPECT_THROW(options.check(), InputError);
}

TEST(BalanceOptions, unknown_decompositions_and_policies_are_errors) {
  for (const char* text : {"decomposition = \"peano\"", "policy = \"random\"", "interval = -1"}) {
    BalanceOptions options;
    ParameterSchema schema;
    declare(schema, options);
    EXPECT_THROW(schema.read_text(std::string("[balance]\n") + text, "test.toml"), InputError)
        << text;
  }
}

}  // namespace
}  // namespace octant
