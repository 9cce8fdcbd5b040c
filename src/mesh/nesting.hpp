// How far around refined octants their own level must reach. A tool of the mesh.
#pragma once

#include <array>
#include <cstdint>

namespace octant::mesh {

// All level l-1 cells within this many cells of a level-l block exist, so that its ghosts (an even
// number of cells) can be interpolated with slopes.
constexpr int nesting_distance(int ghosts) { return (ghosts + 1) / 2 + 1; }

// Which of the 27 positions around a block have cells within some distance of refined octants of
// the block.
class Nesting {
 public:
  Nesting(int block_size, int distance);

  // Bit ix + 4 iy + 16 iz of the position (ix, iy, iz), each 0, 1 or 2, the block itself being (1,
  // 1, 1). `refined` has a bit per octant. Shifted by the block's own octant, ox + 4 oy + 16 oz,
  // these are the parent's octants and those around it, as in FlagMasks.
  std::uint64_t near(unsigned refined) const { return near_[refined]; }
  static constexpr int bit_of(int neighbour) {
    return neighbour % 3 + 4 * (neighbour / 3 % 3) + 16 * (neighbour / 9);
  }

 private:
  std::array<std::uint64_t, 256> near_{};
};

}  // namespace octant::mesh
