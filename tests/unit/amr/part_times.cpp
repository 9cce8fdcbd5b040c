#include "amr/block_meter.hpp"

#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "run/debug_options.hpp"

namespace octant {
namespace {

using Shares = std::vector<std::vector<double>>;

TEST(ShareOut, gravity_treats_all_blocks_of_a_level_alike) {
  const std::vector<PartTimes> parts{{"gravity", Share::blocks, {6.0, 2.0}}};
  EXPECT_EQ(share_out(parts, {{{0, 7, 0}, {1}}, {{8, 8, 7}, {8}}}),
            (Shares{{2.0, 2.0, 2.0}, {2.0}}));
}

TEST(ShareOut, processes_cost_where_leaf_cells_are) {
  const std::vector<PartTimes> parts{{"cooling", Share::leaf_cells, {6.0, 5.0}}};
  EXPECT_EQ(share_out(parts, {{{0, 0, 0}, {0}}, {{8, 0, 4}, {8}}}),
            (Shares{{4.0, 0.0, 2.0}, {5.0}}));
}

TEST(ShareOut, particles_cost_where_they_are) {
  const std::vector<PartTimes> parts{{"particles", Share::particles, {8.0, 0.0}}};
  EXPECT_EQ(share_out(parts, {{{3, 1}, {5}}, {{8, 8}, {8}}}), (Shares{{6.0, 2.0}, {0.0}}));
}

TEST(ShareOut, what_finer_levels_are_part_of_is_shared_with_them) {
  const std::vector<PartTimes> parts{{"particles", Share::particles_onwards, {20.0, 12.0}}};
  EXPECT_EQ(share_out(parts, {{{3, 1}, {6, 0}}, {{8, 8}, {8, 8}}}),
            (Shares{{6.0, 2.0}, {24.0, 0.0}}));
}

TEST(ShareOut, without_particles_the_blocks_of_the_level_share_alike) {
  const std::vector<PartTimes> parts{{"gravity", Share::blocks, {1.0, 0.0}},
                                     {"particles", Share::particles, {2.0, 0.0}},
                                     {"particles", Share::particles_onwards, {3.0, 5.0}}};
  EXPECT_EQ(share_out(parts, {{{0, 0}, {}}, {{8, 8}, {}}}), (Shares{{3.0, 3.0}, {}}));
}

TEST(PartTimer, adds_what_the_thread_has_worked) {
  double nanoseconds = 5.0;
  {
    const PartTimer timer(nanoseconds, true);
    burn(1'000'000);
  }
  EXPECT_GE(nanoseconds, 1'000'005.0);
}

}  // namespace
}  // namespace octant
