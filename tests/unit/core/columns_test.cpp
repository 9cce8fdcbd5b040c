#include "core/number_file.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace octant {
namespace {

TEST(Columns, names_and_values_stand_in_the_same_order) {
  const double momentum[] = {0.1, -2.0, 1e-300};
  const std::vector<std::int64_t> blocks{7, 0};
  Columns columns;
  columns.add("step", std::int64_t{12});
  columns.add("time", 1.0 / 3.0);
  columns.add_vector("momentum", momentum);
  columns.add_numbered("blocks", blocks);
  EXPECT_EQ(columns.names(), "step,time,momentum_x,momentum_y,momentum_z,blocks_0,blocks_1");
  EXPECT_EQ(columns.values(), "12,0.3333333333333333,0.1,-2,1e-300,7,0");
}

}  // namespace
}  // namespace octant
