// Face-centred fields that follow the mesh by themselves, on any number of ranks.
#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "mesh/face_fields.hpp"
#include "mesh/flagging.hpp"
#include "mesh_fixture.hpp"

namespace octant::mesh::test {
namespace {

double wavy_potential(int component, const std::array<double, 3>& x) {
  constexpr double k = 2.0 * std::numbers::pi;
  return std::sin(k * x[(component + 1) % 3] + component) * std::cos(k * x[(component + 2) % 3]);
}

// A periodic box with a face-centred field.
class FieldOnMesh : public testing::Test {
 protected:
  static Geometry geometry() {
    MeshOptions options;
    options.base_cells.fill(16);
    options.block_size = 4;
    options.max_level = 2;
    return Geometry(options);
  }

  // Refines the blocks of a level whose lower corners are below a position along x.
  void refine_below(double position) {
    FlagMasks flags(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      for (const int slot : mesh.blocks(l).own())
        if (mesh.geometry().origin(l, morton_decode(mesh.blocks(l).key(slot)))[0] < position)
          flags[l][slot] = octant_mask(6, 6, 6);
    }
    mesh.regrid(flags);
  }

  double largest_divergence() const {
    const int N = mesh.layout().block_size;
    double largest = 0.0;
    for (int l = 0; l <= mesh.finest_level(); ++l) {
      std::vector<double> faces[3];
      for (int c = 0; c < 3; ++c)
        faces[c] = read_component(fields.field("b"), l, mesh.cells(l).blocks, c);
      // The face of a component on a side of cell (i, j, k) of block n.
      const auto face = [&](int n, int c, std::array<int, 3> at, int side) {
        const auto extents = fields.field("b").info().component(c).extents({N, N, N});
        at[c] += side;
        return faces[c][((static_cast<std::size_t>(n) * extents[2] + at[2]) * extents[1] + at[1]) *
                            extents[0] +
                        at[0]];
      };
      for (int n = 0; n < std::ssize(mesh.blocks(l).own()); ++n)
        for (int cell = 0; cell < N * N * N; ++cell) {
          const std::array<int, 3> at{cell % N, cell / N % N, cell / (N * N)};
          double sum = 0.0;
          for (int c = 0; c < 3; ++c) sum += face(n, c, at, 1) - face(n, c, at, 0);
          largest = std::max(largest, std::abs(sum));
        }
    }
    return mesh.communicator().max(largest);
  }

  // Moves every block to the next rank.
  void rotate_owners() {
    const int ranks = mesh.communicator().size();
    std::vector<std::vector<int>> owners;
    for (int l = 0; l <= mesh.geometry().max_level(); ++l)
      owners.emplace_back(mesh.blocks(l).own().size(), (mesh.communicator().rank() + 1) % ranks);
    mesh.migrate(owners);
  }

  Mesh mesh{geometry(),
            Communicator::world(),
            CommOptions{},
            {.variables = {{"scalar"}}, .ghosts = {.reach = 2}},
            std::make_unique<LimitedLinear<NoLimit>>()};
  FaceFields fields{
      mesh, CommOptions{}, {{{.name = "b", .centring = Centring::face}, wavy_potential}}};
};

TEST_F(FieldOnMesh, begins_and_stays_without_divergence_when_the_mesh_changes) {
  refine_below(0.5);
  fields.initialise();
  EXPECT_LT(largest_divergence(), 1e-12);
  for (const double position : {0.3, 1.0, 0.0, 0.6}) {
    refine_below(position);
    rotate_owners();
    EXPECT_LT(largest_divergence(), 1e-12) << position;
  }
  EXPECT_GT(mesh.finest_level(), 0);
}

TEST_F(FieldOnMesh, holds_the_values_that_are_written) {
  fields.initialise();
  const auto blocks = mesh.cells(0).blocks;
  const std::vector<double> before = read_component(fields.field("b"), 0, blocks, 1);
  EXPECT_EQ(std::ssize(before), std::ssize(mesh.blocks(0).own()) * 4 * 5 * 4);
  std::vector<double> doubled;
  for (const double value : before) doubled.push_back(2.0 * value);
  write_component(fields.field("b"), 0, blocks, 1, doubled);
  EXPECT_EQ(read_component(fields.field("b"), 0, blocks, 1), doubled);
  const double first = *std::ranges::max_element(before);
  EXPECT_GT(mesh.communicator().max(first), 0.1);
}

TEST_F(FieldOnMesh, is_found_by_its_name) {
  EXPECT_EQ(fields.field("b").info().centring, Centring::face);
  EXPECT_THROW(fields.field("c"), RunError);
}

}  // namespace
}  // namespace octant::mesh::test
