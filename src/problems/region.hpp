// A box of the domain that is refined whatever the flow does.
#pragma once

#include <array>
#include <cstdint>

#include "mesh/mesh.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::problems {

// The parameters `refine.region_*`.
struct RefinedRegion {
  std::array<double, 3> lower{0.0, 0.0, 0.0};
  std::array<double, 3> upper{0.0, 0.0, 0.0};
  int level = 0;  // of the cells inside; 0 for no region

  void declare(ParameterSchema& schema);

  // Throws InputError for a box that is inside out or a level that the mesh does not have.
  void check(const mesh::Geometry& geometry) const;

  // Flags the cells of this level that overlap the box, if the box asks for a finer level. `masks`
  // has one word per slot, as in hydro/refinement.hpp.
  void flag_cells(const mesh::Mesh& mesh, int mesh_level,
                  const mesh::DeviceArray<std::uint64_t>& masks) const;
};

}  // namespace octant::problems
