// How far around refined octants their own level must reach. A tool of the mesh.
#pragma once

#include <vector>

#include "decomp/morton.hpp"

namespace octant::mesh {

// All level l-1 cells within this many cells of a level-l block exist, so that its ghosts (an even
// number of cells) can be interpolated with slopes.
constexpr int nesting_distance(int ghosts) { return (ghosts + 1) / 2 + 1; }

// The blocks, this one and neighbours, in or beyond the domain, that have cells within `distance`
// of its refined octants (bit = octant).
std::vector<BlockCoordinates> blocks_near_refined(int block_size, const BlockCoordinates& block,
                                                  unsigned refined, int distance);

}  // namespace octant::mesh
