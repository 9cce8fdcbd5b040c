#include "decomp/hilbert.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <set>

namespace octant {
namespace {

int distance(const BlockCoordinates& a, const BlockCoordinates& b) {
  int sum = 0;
  for (int axis = 0; axis < 3; ++axis) sum += static_cast<int>(std::abs(a[axis] - b[axis]));
  return sum;
}

TEST(Hilbert, curve_visits_every_block_once_and_only_steps_to_neighbours) {
  for (int bits = 0; bits <= 5; ++bits) {
    const std::uint64_t count = std::uint64_t{1} << 3 * bits;
    std::set<BlockCoordinates> visited;
    for (std::uint64_t n = 0; n < count; ++n) {
      const BlockCoordinates c = hilbert_decode(n, bits);
      EXPECT_TRUE(hilbert_encode(c, bits) == n) << bits << " bits, step " << n;
      for (const auto x : c) EXPECT_TRUE(x >= 0 && x < 1 << bits);
      if (n > 0) {
        ASSERT_EQ(distance(c, hilbert_decode(n - 1, bits)), 1) << bits << " bits, step " << n;
      }
      visited.insert(c);
    }
    EXPECT_EQ(visited.size(), count);
  }
}

TEST(Hilbert, deep_curves_are_continuous_and_invertible) {
  std::mt19937_64 random(3);
  const int bits = k_key_bits_per_axis;
  for (int n = 0; n < 1000; ++n) {
    const Key index = random() >> 2;
    const BlockCoordinates here = hilbert_decode(index, bits);
    EXPECT_TRUE(hilbert_encode(here, bits) == index);
    EXPECT_EQ(distance(here, hilbert_decode(index + 1, bits)), 1);
  }
}

TEST(Hilbert, index_of_a_parent_is_a_prefix_of_its_childrens) {
  std::mt19937_64 random(4);
  for (int n = 0; n < 1000; ++n) {
    BlockCoordinates child, parent;
    for (int axis = 0; axis < 3; ++axis) {
      child[axis] = static_cast<BlockCoordinate>(random() % (1 << 12));
      parent[axis] = child[axis] / 2;
    }
    EXPECT_TRUE(hilbert_encode(child, 12) >> 3 == hilbert_encode(parent, 11));
  }
}

}  // namespace
}  // namespace octant
