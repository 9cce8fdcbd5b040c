// Nesting of levels: the required width of a level around refined octants, the planning of a
// refinement with proper nesting, and the check of an octree read from a file.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "mesh/mesh.hpp"

namespace octant::mesh {

// Nesting distance in cells of level l-1: level l-1 must contain all cells within this distance of
// a block of level l, so that the ghost cells of the block (an even number) can be interpolated
// with slopes.
constexpr int nesting_distance(int ghosts) { return (ghosts + 1) / 2 + 1; }

// Table of the neighbours of a block with cells within a given distance of its refined octants.
class Nesting {
 public:
  Nesting(int block_size, int distance);

  // Mask of the neighbours near the octants in the mask `refined`: bit ix + 4 iy + 16 iz for the
  // position (ix, iy, iz), each 0, 1 or 2; the block itself is (1, 1, 1). If the block is octant
  // (ox, oy, oz) of its parent, the mask shifted left by ox + 4 oy + 16 oz refers to the octants
  // in and around the parent, as in FlagMasks.
  std::uint64_t near(unsigned refined) const { return near_[refined]; }
  // Bit, in a mask that near() returns, of the neighbour at one of the 27 positions.
  static constexpr int bit_of(int neighbour) {
    return neighbour % 3 + 4 * (neighbour / 3 % 3) + 16 * (neighbour / 9);
  }

 private:
  std::array<std::uint64_t, 256> near_{};
};

// Octants of every own block that will be refined after a regrid, from the flags of all ranks:
// flagged octants, ancestors of refined octants, and every octant within `distance` cells of a
// refined octant of the next finer level. Collective.
OctantMasks plan_refinement(const Tree& tree, const FlagMasks& flags, int distance);

// Throws InputError unless `keys` are keys of blocks on the grid of a level in strictly ascending
// order. Local.
void require_keys(const Geometry& geometry, int level, std::span<const Key> keys);

// Throws InputError on every rank unless the base grid is complete, exactly the refined octants
// have children, and all blocks within `distance` cells of a refined octant of their level exist.
// The tree must have been discovered, with keys that require_keys() accepts over all ranks.
// Collective; O(own blocks) work.
void require_octree(const Tree& tree, int distance);

}  // namespace octant::mesh
