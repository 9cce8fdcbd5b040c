// Which tiles a level is swept in.
#include <gtest/gtest.h>

#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

// Eight blocks of 8^3 cells: one tile, which a single thread sweeps faster, or eight.
TEST(Tiles, of_a_small_level_are_enough_for_all_threads) {
  MeshOptions options = small_box(8, 0, "periodic");
  options.base_cells = {16, 16, 16};
  options.upper = {1.0, 1.0, 1.0};
  const MeshFixture f(options, {2}, 0);
  const bool shared_out = k_device_is_host && Kokkos::DefaultExecutionSpace().concurrency() > 1;
  EXPECT_EQ(f.mesh.halo(0).tiles.count(), shared_out ? 8 : 1);
}

}  // namespace
}  // namespace octant::mesh::test
