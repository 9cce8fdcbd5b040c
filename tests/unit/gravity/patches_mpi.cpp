// Fields of patches that blocks fill in part.
#include <cmath>

#include <gtest/gtest.h>

#include "gravity/patch_level.hpp"
#include "tests/unit/gravity/gravity_fixture.hpp"
#include "tests/unit/kernel_watch.hpp"

namespace octant::gravity::test {
namespace {

// Blocks of 4^3 cells on level 1 along an edge of the domain, two by two: a quarter of the rows of
// four patches.
class Patches : public ::testing::Test {
 protected:
  Patches() {
    gas.refine([](const Point& x, int level) { return level == 0 && x[1] < 0.12 && x[2] < 0.12; });
  }
  Gas gas{box({32, 32, 32}, 4, 1)};
};

TEST_F(Patches, fields_have_memory_for_rows_with_blocks_alone) {
  const LevelPatches patches(gas.mesh.tree(), 1);
  ASSERT_EQ(patches.side(), 16);
  const std::int64_t copies = patches.slots() - patches.own();
  const std::int64_t own_values = patches.values(16) - copies * cells_of(16);
  EXPECT_EQ(gas.mesh.communicator().sum(own_values), 4 * cells_of(16) / 4);
}

TEST_F(Patches, values_of_blocks_come_back_from_them) {
  gas.set_density([](const Point& x) { return 1.0 + x[0] + 10.0 * x[1] + 100.0 * x[2]; });
  const BlockField density{gas.mesh.fields(1).blocks(mesh::LevelFields::k_now),
                           gas.mesh.layout().stride_slot};
  FieldPool pool;
  PatchLevel level(gas.mesh.tree(), 1, {}, pool);
  const DeviceArray<double> field = level.make_field("density", {.x = density});
  const DeviceArray<double> back("density", gas.mesh.blocks(1).slots() * density.stride);
  level.transfer().to_blocks(field.data(), {back.data(), density.stride});
  Kokkos::fence();
  gas.for_cells(
      1, [&](const Point&, std::int64_t cell) { ASSERT_EQ(back(cell), density.data[cell]); });
}

// In rows with blocks, which lie beside each other here at the ends of the domain alone.
TEST(PatchFields, are_0_where_no_block_lies) {
  Gas gas{box({32, 32, 32}, 4, 1)};
  gas.refine([](const Point& x, int level) {
    return level == 0 && x[0] < 0.12 && x[1] < 0.12 && x[2] < 0.12;
  });
  gas.set_density([](const Point&) { return 1.0; });
  const BlockField density{gas.mesh.fields(1).blocks(mesh::LevelFields::k_now),
                           gas.mesh.layout().stride_slot};
  FieldPool pool;
  PatchLevel level(gas.mesh.tree(), 1, {}, pool);
  {
    const DeviceArray<double> one = level.make_field("old"), other = level.make_field("old");
    fill(one, std::nan(""));
    fill(other, std::nan(""));
  }
  const octant::test::KernelWatch watch;
  const auto [once, twice] =
      level.make_fields({{"once", {.x = density}}, {"twice", {.a = 2.0, .x = density}}});
  if (gas.mesh.communicator().size() == 1) {
    EXPECT_EQ(watch.launches(), 1);
  }
  const auto cells = static_cast<double>(
      64 * gas.mesh.communicator().sum(std::int64_t{gas.mesh.blocks(1).count()}));
  EXPECT_EQ(level.sum(once), cells);
  EXPECT_EQ(level.sum(twice), 2.0 * cells);
}

}  // namespace
}  // namespace octant::gravity::test
