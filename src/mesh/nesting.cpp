#include "mesh/nesting.hpp"

namespace octant::mesh {

std::vector<BlockCoordinates> blocks_near_refined(int block_size, const BlockCoordinates& block,
                                                  unsigned refined, int distance) {
  const int half = block_size / 2;
  bool near[27] = {};
  for (int octant = 0; octant < 8; ++octant) {
    if (!(refined >> octant & 1)) continue;
    for (int n = 0; n < 27; ++n) {
      bool reached = true;
      for (int d = 0; d < 3; ++d) {
        const int offset = (d == 0 ? n : d == 1 ? n / 3 : n / 9) % 3 - 1;
        const int begin = (octant >> d & 1) * half, end = begin + half;
        reached = reached && (offset == 0 ||
                              (offset < 0 ? begin - distance < 0 : end + distance > block_size));
      }
      near[n] = near[n] || reached;
    }
  }
  std::vector<BlockCoordinates> blocks;
  for (int n = 0; n < 27; ++n)
    if (near[n])
      blocks.push_back({block[0] + n % 3 - 1, block[1] + n / 3 % 3 - 1, block[2] + n / 9 - 1});
  return blocks;
}

}  // namespace octant::mesh
