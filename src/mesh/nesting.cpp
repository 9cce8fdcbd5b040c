#include "mesh/nesting.hpp"

namespace octant::mesh {

Nesting::Nesting(int block_size, int distance) {
  const int half = block_size / 2;
  for (int octant = 0; octant < 8; ++octant) {
    for (int n = 0; n < 27; ++n) {
      bool reached = true;
      for (int d = 0; d < 3; ++d) {
        const int offset = (d == 0 ? n : d == 1 ? n / 3 : n / 9) % 3 - 1;
        const int begin = (octant >> d & 1) * half, end = begin + half;
        reached = reached && (offset == 0 ||
                              (offset < 0 ? begin - distance < 0 : end + distance > block_size));
      }
      if (reached) near_octant_[octant] |= std::uint64_t{1} << bit_of(n);
    }
  }
}

std::uint64_t Nesting::near(unsigned refined) const {
  std::uint64_t positions = 0;
  for (int octant = 0; octant < 8; ++octant)
    if (refined >> octant & 1) positions |= near_octant_[octant];
  return positions;
}

}  // namespace octant::mesh
