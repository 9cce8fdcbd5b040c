// Whether blocks from outside, of a file, make the octree that a mesh stands on.
#pragma once

#include <span>

#include "mesh/tree.hpp"

namespace octant::mesh {

// Throws InputError unless these are keys of blocks on the grid of a level, in ascending order,
// each once. Local.
void require_keys(const Geometry& geometry, int level, std::span<const Key> keys);

// Throws InputError on every rank unless the base grid is complete, refined octants have children,
// and only they, and all blocks exist that lie within `distance` cells of a refined octant of their
// level. The tree must have been discovered, of keys that require_keys() accepts over all ranks.
// Collective; O(own blocks) work.
void require_octree(const Tree& tree, int distance);

}  // namespace octant::mesh
