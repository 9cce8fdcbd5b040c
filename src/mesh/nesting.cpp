#include "mesh/nesting.hpp"

namespace octant::mesh {

Nesting::Nesting(int block_size, int distance) {
  const int half = block_size / 2;
  std::array<std::uint64_t, 8> near_octant{};
  for (int octant = 0; octant < 8; ++octant) {
    for (int n = 0; n < 27; ++n) {
      bool reached = true;
      for (int d = 0; d < 3; ++d) {
        const int offset = (d == 0 ? n : d == 1 ? n / 3 : n / 9) % 3 - 1;
        const int begin = (octant >> d & 1) * half, end = begin + half;
        reached = reached && (offset == 0 ||
                              (offset < 0 ? begin - distance < 0 : end + distance > block_size));
      }
      if (reached) near_octant[octant] |= std::uint64_t{1} << bit_of(n);
    }
  }
  for (unsigned refined = 0; refined < near_.size(); ++refined)
    for (int octant = 0; octant < 8; ++octant)
      if (refined >> octant & 1) near_[refined] |= near_octant[octant];
}

}  // namespace octant::mesh
