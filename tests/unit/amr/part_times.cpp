#include "amr/part_times.hpp"

#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "run/debug_options.hpp"

namespace octant {
namespace {

using Shares = ByBlock<double>;

TEST(ShareOut, gravity_treats_all_blocks_of_a_level_alike) {
  const PartTimes part{"gravity", cost::gravity, {6.0, 2.0}};
  EXPECT_EQ(distribute_time(part, {{{0, 7, 0}, {1}}, {{8, 8, 7}, {8}}}),
            (Shares{{2.0, 2.0, 2.0}, {2.0}}));
}

TEST(ShareOut, processes_cost_where_leaf_cells_are) {
  const PartTimes part{"cooling", cost::cells, {6.0, 5.0}};
  EXPECT_EQ(distribute_time(part, {{{0, 0, 0}, {0}}, {{8, 0, 4}, {8}}}),
            (Shares{{4.0, 0.0, 2.0}, {5.0}}));
}

TEST(ShareOut, particles_cost_where_they_are) {
  const PartTimes part{"particles", cost::particles, {8.0, 0.0}};
  EXPECT_EQ(distribute_time(part, {{{3, 1}, {5}}, {{8, 8}, {8}}}), (Shares{{6.0, 2.0}, {0.0}}));
}

TEST(ShareOut, what_finer_levels_are_part_of_is_shared_with_them) {
  const PartTimes part{"particles", cost::particles_onwards, {20.0, 12.0}};
  EXPECT_EQ(distribute_time(part, {{{3, 1}, {6, 0}}, {{8, 8}, {8, 8}}}),
            (Shares{{6.0, 2.0}, {24.0, 0.0}}));
}

TEST(ShareOut, without_particles_the_blocks_of_the_level_share_alike) {
  const BlockContents contents{{{0, 0}, {}}, {{8, 8}, {}}};
  EXPECT_EQ(distribute_time({"particles", cost::particles, {2.0, 0.0}}, contents),
            (Shares{{1.0, 1.0}, {}}));
  EXPECT_EQ(distribute_time({"particles", cost::particles_onwards, {3.0, 5.0}}, contents),
            (Shares{{1.5, 1.5}, {}}));
}

TEST(ShareOut, counted_time_goes_to_the_blocks_that_took_it) {
  PartTimes part{"cooling", cost::cells, {6.0, 10.0}};
  part.counted = {{1.0, 5.0}, {10.0}};
  EXPECT_EQ(distribute_time(part, {{{0, 0}, {0}}, {{8, 8}, {8}}}), part.counted);
}

TEST(ShareOut, time_that_was_not_counted_is_distributed_by_the_share) {
  PartTimes part{"feedback", cost::interactions, {8.0}};
  part.counted = {{1.0, 3.0}};
  EXPECT_EQ(distribute_time(part, {{{3, 1}}, {{8, 8}}}), (Shares{{4.0, 4.0}}));
}

TEST(ShareOut, counted_time_of_a_level_leaves_the_time_of_others) {
  PartTimes part{"gravity", cost::gravity, {10.0, 10.0}};
  part.counted = {{0.0, 0.0}, {8.0}};
  EXPECT_EQ(distribute_time(part, {{{0, 0}, {0}}, {{8, 8}, {8}}}), (Shares{{5.0, 5.0}, {10.0}}));
}

TEST(ShareOut, a_part_of_several_levels_counts_on_all_of_them) {
  PartTimes part{"feedback", cost::interactions, {8.0, 0.0}};
  part.counted = {{1.0}, {3.0}};
  EXPECT_EQ(distribute_time(part, {{{1}, {3}}, {{8}, {8}}}), (Shares{{2.0}, {6.0}}));
}

TEST(ShareOut, counted_time_never_exceeds_processor_time) {
  PartTimes part{"cooling", cost::cells, {4.0}};
  part.counted = {{2.0, 6.0}};
  EXPECT_EQ(distribute_time(part, {{{0, 0}}, {{8, 8}}}), (Shares{{1.0, 3.0}}));
}

TEST(PartTimer, adds_what_the_thread_has_worked_and_the_wall_clock) {
  PartTimes part{"cooling", cost::cells, {5.0}, 0.0};
  {
    const PartTimer timer(part, 0, true);
    burn(1'000'000);
  }
  EXPECT_GE(part.cpu_ns[0], 1'000'005.0);
  EXPECT_GE(part.wall_ns, 900'000.0);
}

TEST(PartTimer, leaves_out_work_that_does_not_depend_on_blocks) {
  PartTimes part{"gravity", cost::gravity, {0.0}};
  {
    PartTimer timer(part, 0, true);
    burn(1'000'000);
    timer.leave_out(900'000);
  }
  EXPECT_GE(part.cpu_ns[0], 100'000.0);
  EXPECT_LT(part.cpu_ns[0], 900'000.0);
}

}  // namespace
}  // namespace octant
