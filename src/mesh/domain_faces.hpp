// What flows out of the domain: registers of the fluxes through its boundaries.
#pragma once

#include <vector>

#include "mesh/level_jump.hpp"
#include "mesh/mesh.hpp"

namespace octant::mesh {

// A quarter of a block's face at a boundary of the domain, of leaf cells.
struct DomainFace {
  std::int32_t axis, side;
  std::int64_t base;  // of its registers, [variable][b][a]
  double corner[3];   // the lower one, in code length
};

// Requests the fluxes through the boundaries of the domain that are not periodic, for leaf cells of
// a level's own blocks.
void request_domain_fluxes(const Tree& tree, int level, const BlockLayout& layout,
                           LevelRegisters& registers);

// The faces that have such registers, in the order of own blocks.
std::vector<DomainFace> domain_faces(const Mesh& mesh, int level);

}  // namespace octant::mesh
