// Sorting points by keys.
#pragma once

#include <cstdint>
#include <vector>

namespace octant::subgrid::friends {

struct KeyedPoint {
  std::uint64_t key;
  int point;
};

// Sorts by key, and leaves points of one key in their order: counting sorts by some bits at a time,
// the lowest first. No key has more than `bits` bits. O(points) for a given number of bits.
void sort_by_key(std::vector<KeyedPoint>& points, int bits);

}  // namespace octant::subgrid::friends
