// Contiguous placements: walls between pieces of the curve.
#pragma once

#include <vector>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// Sums of costs before each block, and of all: n + 1 values.
std::vector<double> prefix_sums(Costs costs);

// The first block of each piece, and the number of blocks at the end: pieces + 1 values.
using Walls = std::vector<std::int64_t>;

Owners owners_of(const Walls& walls);

// The walls of the exact partition.
Walls exact_walls(Costs costs, int ranks);

// Pieces taken one after the other, each as long as its load stays within `limit`, which all blocks
// must fit; no piece is empty while there are blocks enough.
Walls walls_within(Costs costs, int ranks, double limit);

}  // namespace octant::placement
