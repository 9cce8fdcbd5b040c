// How cubes of cells tile a level whose blocks are of another size: the patches of tiles and of
// multigrid.
#pragma once

#include <algorithm>
#include <bit>

#include "decomp/morton.hpp"

namespace octant::mesh {

// A cube joins the blocks under one ancestor, or is a part of one block; both sides are powers of
// two. The key of a cube is that of its coordinates in cubes. A plain value.
class Cubes {
 public:
  Cubes(int block_side, int cube_side)
      : shift_(std::countr_zero(static_cast<unsigned>(cube_side)) -
               std::countr_zero(static_cast<unsigned>(block_side))) {}

  int blocks_across() const { return 1 << std::max(shift_, 0); }  // along a cube's edge
  int blocks_in_cube() const { return 1 << 3 * std::max(shift_, 0); }
  int cubes_in_block() const { return 1 << 3 * std::max(-shift_, 0); }

  // The cube that a block is in, or that is part n of a block.
  Key key_of(Key block, int n = 0) const {
    return shift_ >= 0 ? block >> 3 * shift_ : (block << -3 * shift_) + static_cast<Key>(n);
  }
  // Where a block is in its cube, in blocks; and where part n of a block is in it, in cubes.
  BlockCoordinates place_in_cube(Key block) const {
    return morton_decode(block & static_cast<Key>(blocks_in_cube() - 1));
  }
  static BlockCoordinates place_in_block(int n) { return morton_decode(static_cast<Key>(n)); }

 private:
  int shift_;  // from bits of a block's coordinates to those of its cube
};

}  // namespace octant::mesh
