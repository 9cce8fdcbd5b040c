// Meshes for benchmarks, refined by a rule and distributed over the ranks.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "mesh/mesh.hpp"

namespace octant::bench {

// Returns true if the octant with this centre, of a block of this level, is to be refined.
using OctantRule = std::function<bool(int level, const std::array<double, 3>& centre)>;

// Flags the cells of the octants of own blocks selected by a rule, for Mesh::regrid.
mesh::FlagMasks flag_octants(const mesh::Mesh& mesh, const OctantRule& rule);

// Owners of own blocks by level, for an equal number on every rank, each within a box: for
// Mesh::migrate. Collective.
std::vector<std::vector<int>> equal_parts(const mesh::Mesh& mesh);

}  // namespace octant::bench
