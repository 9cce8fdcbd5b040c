#include "mesh/flagging.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/region.hpp"

namespace octant::problems {
namespace {

using Masks = mesh::DeviceArray<std::uint64_t>;

// 3 x 2 x 2 blocks of side 1/2.
mesh::MeshOptions small_box(int block_size, int max_level) {
  mesh::MeshOptions options;
  options.block_size = block_size;
  options.base_cells = {3 * block_size, 2 * block_size, 2 * block_size};
  options.upper = {1.5, 1.0, 1.0};
  options.max_level = max_level;
  return options;
}

mesh::Mesh base_mesh(int block_size, int max_level = 1) {
  return {mesh::Geometry(small_box(block_size, max_level)), Communicator::world(), CommOptions{},
          mesh::FieldSetup{.variables = {{"density"}}, .patch = 8},
          std::make_unique<mesh::LimitedLinear<mesh::NoLimit>>()};
}

std::uint64_t mask_of_block(const mesh::Mesh& mesh, const Masks& masks,
                            const BlockCoordinates& block) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, masks);
  return host(mesh.blocks(0).find(morton_encode(block))->slot);
}

// Octants of a block by (x, y, z) in 0, 1.
std::uint64_t bit_of_octant(int x, int y, int z) {
  return std::uint64_t{1} << ((x + 1) + 4 * (y + 1) + 16 * (z + 1));
}

// Where cells are flagged: structs, as nvcc takes no KOKKOS_LAMBDA in the body of a test.
struct Beside {
  mesh::DevicePosition place;
  double reach;
  KOKKOS_FUNCTION bool operator()(const mesh::DevicePosition& p) const {
    return Kokkos::abs(p[0] - place[0]) < reach && Kokkos::abs(p[1] - place[1]) < reach &&
           Kokkos::abs(p[2] - place[2]) < reach;
  }
};
struct AtTheLeft {
  KOKKOS_FUNCTION bool operator()(const mesh::DevicePosition& p) const { return p[0] < 0.25; }
};
// The expression of RefinedPlaces at level 0 and time 0.6.
struct InTheSlab {
  KOKKOS_FUNCTION bool operator()(const mesh::DevicePosition& p) const {
    return Kokkos::abs(p[0] - 0.6) < 0.1 && p[1] < 0.3 &&
           p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 4.0;
  }
};

TEST(FlagWhere, sets_the_bit_of_the_octant_that_holds_the_cell) {
  for (const int block_size : {2, 4, 8}) {
    const mesh::Mesh mesh = base_mesh(block_size);
    const Masks masks("masks", mesh.blocks(0).slots());
    const double cell = mesh.geometry().cell_size(0);
    const double x = 1.0 + 0.25 + 0.5 * cell, y = 0.5 * cell, z = 1.0 - 0.5 * cell;
    mesh::flag_where(mesh, 0, masks, Beside{{x, y, z}, 0.1 * cell});
    for (const int slot : mesh.blocks(0).own()) {
      const auto block = morton_decode(mesh.blocks(0).key(slot));
      const bool holds = block == BlockCoordinates{2, 0, 1};
      EXPECT_EQ(mask_of_block(mesh, masks, block), holds ? bit_of_octant(1, 0, 1) : 0u);
    }
  }
}

TEST(FlagWhere, keeps_bits_that_are_already_set) {
  const mesh::Mesh mesh = base_mesh(4);
  const Masks masks("masks", mesh.blocks(0).slots());
  Kokkos::deep_copy(masks, 1);
  mesh::flag_where(mesh, 0, masks, AtTheLeft{});
  EXPECT_EQ(mask_of_block(mesh, masks, {0, 1, 1}),
            1 | bit_of_octant(0, 0, 0) | bit_of_octant(0, 1, 0) | bit_of_octant(0, 0, 1) |
                bit_of_octant(0, 1, 1));
  EXPECT_EQ(mask_of_block(mesh, masks, {1, 1, 1}), 1u);
}

TEST(RefinedRegion, flags_octants_that_overlap_the_box_below_its_level_only) {
  const mesh::Mesh mesh = base_mesh(4, 2);
  RefinedRegion region;
  region.lower = {0.26, 0.3, 0.3};
  region.upper = {0.49, 0.31, 0.31};  // thinner than a cell of 1/8
  region.level = 1;
  region.check(mesh.geometry());
  const Masks masks("masks", mesh.blocks(0).slots());
  region.flag_cells(mesh, 1, masks);
  EXPECT_EQ(mask_of_block(mesh, masks, {0, 0, 0}), 0u);
  region.flag_cells(mesh, 0, masks);
  EXPECT_EQ(mask_of_block(mesh, masks, {0, 0, 0}), bit_of_octant(1, 1, 1));
  EXPECT_EQ(mask_of_block(mesh, masks, {1, 0, 0}), 0u);
}

TEST(RefinedPlaces, are_where_an_expression_of_place_time_and_level_holds) {
  if (!has_expressions()) GTEST_SKIP() << "built without muParser";
  const mesh::Mesh mesh = base_mesh(4, 2);
  RefinedPlaces places;
  ParameterSchema schema;
  places.declare(schema);
  schema.read_text("[refine]\nwhere = \"abs(x - t) < 0.1 && y < 0.3 && r < 2 - level\"",
                   "test.toml");
  places.compile();
  const Masks masks("masks", mesh.blocks(0).slots()), expected("expected", masks.extent(0));
  Kokkos::deep_copy(masks, 1);
  Kokkos::deep_copy(expected, 1);
  places.flag_cells(mesh, 0, 0.6, masks);
  mesh::flag_where(mesh, 0, expected, InTheSlab{});
  int flagged = 0;
  for (const int slot : mesh.blocks(0).own()) {
    const auto block = morton_decode(mesh.blocks(0).key(slot));
    EXPECT_EQ(mask_of_block(mesh, masks, block), mask_of_block(mesh, expected, block));
    flagged += mask_of_block(mesh, masks, block) != 1;
  }
  EXPECT_EQ(flagged, 2);  // of twelve blocks
}

TEST(RefinedPlaces, no_expression_is_an_error) {
  if (!has_expressions()) GTEST_SKIP() << "built without muParser";
  RefinedPlaces places;
  ParameterSchema schema;
  places.declare(schema);
  EXPECT_NO_THROW(places.compile());
  schema.read_text("[refine]\nwhere = \"x < \"", "test.toml");
  EXPECT_THROW(places.compile(), InputError);
}

TEST(RefinedRegion, impossible_boxes_and_levels_are_errors) {
  const mesh::Geometry geometry(small_box(4, 2));
  RefinedRegion region;
  region.level = 1;
  EXPECT_THROW(region.check(geometry), InputError);  // an empty box
  region.upper = {1.0, 1.0, 1.0};
  EXPECT_NO_THROW(region.check(geometry));
  region.level = 3;
  EXPECT_THROW(region.check(geometry), InputError);
}

}  // namespace
}  // namespace octant::problems
