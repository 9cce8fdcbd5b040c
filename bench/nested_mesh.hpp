// Meshes that benchmarks refine by a rule and deal out to the ranks.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "mesh/mesh.hpp"

namespace octant::bench {

// Whether the octant with this centre, of a block of this level, is to be refined.
using OctantRule = std::function<bool(int level, const std::array<double, 3>& centre)>;

// Flags the cells of the octants of own blocks that a rule names, for Mesh::regrid.
mesh::FlagMasks flag_octants(const mesh::Mesh& mesh, const OctantRule& rule);

// By level, the ranks that own blocks should go to so that all have equally many, each within a
// box: for Mesh::migrate. Collective.
std::vector<std::vector<int>> equal_shares(const mesh::Mesh& mesh);

}  // namespace octant::bench
