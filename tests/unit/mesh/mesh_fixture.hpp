// A small mesh with one or two analytic fields, refined at random but the same on any number of
// ranks.
#pragma once

#include <functional>

#include "comm/reproducible_sum.hpp"
#include "core/random.hpp"
#include "mesh/device.hpp"
#include "mesh/mesh.hpp"

namespace octant::mesh::test {

using Point = std::array<double, 3>;
using Field = std::function<double(const Point&)>;

inline MeshOptions small_box(int block_size, int max_level, const std::string& boundary) {
  MeshOptions options;
  options.block_size = block_size;
  const int side = std::max(block_size, 4);
  options.base_cells = {3 * side, 2 * side, 2 * side};
  options.upper = {1.5, 1.0, 1.0};
  options.max_level = max_level;
  options.boundary.fill(std::vector(2, value_named<Boundary>(boundary).value()));
  return options;
}

// One scalar and one vector of which the components are listed.
inline FieldSetup two_fields(const GhostShape& ghosts, int patch) {
  return {.variables = {{"scalar"}, {.name = "vector_x", .vector_axis = 0}},
          .ghosts = ghosts,
          .patch = patch,
          .spares = 1};
}

class MeshFixture {
 public:
  MeshFixture(const MeshOptions& options, const GhostShape& ghosts, int patch)
      : mesh(Geometry(options), Communicator::world(), CommOptions{}, two_fields(ghosts, patch),
             std::make_unique<LimitedLinear<NoLimit>>()) {}

  // Sets all cells of all levels.
  void set(const Field& scalar, const Field& vector) {
    for (int l = 0; l <= mesh.finest_level(); ++l) set_level(l, scalar, vector);
  }

  void set_level(int level, const Field& scalar, const Field& vector) {
    for_own_cells(level, [&](const Point& x, double* cell) {
      cell[0] = scalar(x);
      cell[mesh.layout().stride_variable] = vector(x);
    });
  }

  // Whether a point is in the domain and at least so far from its boundaries.
  bool is_inside(const Point& x, double margin) const {
    bool inside = true;
    for (int d = 0; d < 3; ++d)
      inside = inside && x[d] >= mesh.geometry().lower()[d] + margin &&
               x[d] <= mesh.geometry().upper()[d] - margin;
    return inside;
  }

  // Calls visit(centre, pointer to the cell's first variable) for own cells of a level.
  void for_own_cells(int level, const std::function<void(const Point&, double*)>& visit) {
    const int N = mesh.layout().block_size;
    const double dx = mesh.geometry().cell_size(level);
    for (const int slot : mesh.blocks(level).own()) {
      const auto corner =
          mesh.geometry().origin(level, morton_decode(mesh.blocks(level).key(slot)));
      double* block =
          mesh.fields(level).blocks(LevelFields::k_now) + slot * mesh.layout().stride_slot;
      for (int c = 0; c < N * N * N; ++c)
        visit({corner[0] + (c % N + 0.5) * dx, corner[1] + (c / N % N + 0.5) * dx,
               corner[2] + (c / N / N + 0.5) * dx},
              block + c);
    }
  }

  // Flags of a block's octants, each set with the given probability by a hash of the block's key.
  // Most of them are those of own octants; some are of the neighbours', as those near an edge.
  static std::uint64_t random_flag(int round, int level, Key key, double probability) {
    std::uint64_t flag = 0;
    for (int bit = 0; bit < 64; ++bit) {
      const bool own = (bit & 3) % 3 != 0 && (bit >> 2 & 3) % 3 != 0 && (bit >> 4) % 3 != 0;
      const double chance = own ? probability : 0.02 * probability;
      if (RandomStream(round, 16 * static_cast<std::uint64_t>(key) + level, 0).uniform(bit) <
          chance)
        flag |= std::uint64_t{1} << bit;
    }
    return flag;
  }

  // Random flags of all own blocks.
  FlagMasks random_flags(int round, double probability) {
    FlagMasks flags(mesh.geometry().max_level() + 1);
    for (int l = 0; l <= mesh.geometry().max_level(); ++l) {
      flags[l].assign(mesh.blocks(l).slots(), 0);
      for (const int slot : mesh.blocks(l).own())
        flags[l][slot] = random_flag(round, l, mesh.blocks(l).key(slot), probability);
    }
    return flags;
  }

  void refine_at_random(int rounds, double probability) {
    for (int r = 0; r < rounds; ++r) mesh.regrid(random_flags(r, probability));
  }

  Mesh mesh;
};

}  // namespace octant::mesh::test
