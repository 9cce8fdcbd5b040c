// Levels of small meshes with sources given at cell centres.
#pragma once

#include "gravity/level_solver.hpp"
#include "mesh/device.hpp"
#include "tests/unit/mesh/mesh_fixture.hpp"

namespace octant::gravity::test {

using mesh::test::MeshFixture;
using mesh::test::Point;

inline mesh::MeshOptions box(std::array<int, 3> cells, int block_size, int max_level = 0,
                             const std::string& boundary = "periodic") {
  mesh::MeshOptions options;
  options.base_cells = cells;
  options.block_size = block_size;
  options.max_level = max_level;
  for (int d = 0; d < 3; ++d) options.upper[d] = static_cast<double>(cells[d]) / cells[0];
  options.boundary.fill({boundary, boundary});
  return options;
}

// Calls visit(centre, value) for every cell of own patches of a field, covered or not.
template <class Visit>
void for_patch_cells(const LevelPatches& patches, const mesh::Geometry& geometry,
                     const DeviceArray<double>& field, const Visit& visit) {
  const int T = patches.side();
  const double h = geometry.cell_size(patches.level());
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates corner = morton_decode(patches.key(slot));
    for (int k = 0; k < T; ++k)
      for (int j = 0; j < T; ++j)
        for (int i = 0; i < T; ++i) {
          const Point x{(corner[0] * T + i + 0.5) * h, (corner[1] * T + j + 0.5) * h,
                        (corner[2] * T + k + 0.5) * h};
          visit(x, field.data()[((std::int64_t{slot} * T + k) * T + j) * T + split(i, T)]);
        }
  }
}

}  // namespace octant::gravity::test
