#include "decomp/morton.hpp"

#include <gtest/gtest.h>

#include <random>

namespace octant {
namespace {

constexpr BlockCoordinate k_last = k_key_coordinate_end - 1;

Key encode_bit_by_bit(const BlockCoordinates& c) {
  Key key = 0;
  for (int b = 0; b < k_key_bits_per_axis; ++b) {
    for (int axis = 0; axis < 3; ++axis) {
      key |= static_cast<Key>(c[axis] >> b & 1) << (3 * b + axis);
    }
  }
  return key;
}

BlockCoordinates random_coordinates(std::mt19937_64& random) {
  std::uniform_int_distribution<BlockCoordinate> uniform(0, k_last);
  return {uniform(random), uniform(random), uniform(random)};
}

static_assert(morton_encode({1, 0, 0}) == 1);
static_assert(morton_encode({0, 1, 0}) == 2);
static_assert(morton_encode({0, 0, 1}) == 4);
static_assert(morton_encode({2, 3, 1}) == 0b011'110);

TEST(Morton, keys_interleave_bits_with_x_lowest) {
  std::mt19937_64 random(1);
  for (int n = 0; n < 1000; ++n) {
    const BlockCoordinates c = random_coordinates(random);
    EXPECT_TRUE(morton_encode(c) == encode_bit_by_bit(c));
  }
}

TEST(Morton, decoding_undoes_encoding_up_to_the_last_coordinate) {
  std::mt19937_64 random(2);
  for (int n = 0; n < 1000; ++n) {
    const BlockCoordinates c = random_coordinates(random);
    EXPECT_EQ(morton_decode(morton_encode(c)), c);
  }
  const BlockCoordinates corner{k_last, k_last, k_last};
  EXPECT_EQ(morton_decode(morton_encode(corner)), corner);
  EXPECT_FALSE(morton_encode(corner) == k_no_key);
}

TEST(Morton, children_halve_coordinates_and_return_to_their_parent) {
  const BlockCoordinates c{5, 12, 1000};
  const Key key = morton_encode(c);
  for (int octant = 0; octant < 8; ++octant) {
    const Key child = child_key(key, octant);
    const BlockCoordinates expected{2 * c[0] + (octant & 1), 2 * c[1] + (octant >> 1 & 1),
                                    2 * c[2] + (octant >> 2)};
    EXPECT_EQ(morton_decode(child), expected);
    EXPECT_TRUE(parent_key(child) == key);
    EXPECT_EQ(octant_of(child), octant);
  }
}

TEST(Morton, neighbours_wrap_on_periodic_axes_and_end_on_others) {
  const BlockCoordinates extent{6, 5, 3};
  const Key corner = morton_encode({5, 0, 2});
  const auto wrapped = neighbour_key(corner, {1, -1, 1}, extent, {true, true, true});
  ASSERT_TRUE(wrapped.has_value());
  EXPECT_EQ(morton_decode(*wrapped), (BlockCoordinates{0, 4, 0}));
  EXPECT_FALSE(neighbour_key(corner, {1, 0, 0}, extent, {false, true, true}).has_value());
  EXPECT_FALSE(neighbour_key(corner, {0, -1, 0}, extent, {true, false, true}).has_value());
  const auto inside = neighbour_key(corner, {-1, 1, 0}, extent, {false, false, false});
  ASSERT_TRUE(inside.has_value());
  EXPECT_EQ(morton_decode(*inside), (BlockCoordinates{4, 1, 2}));
}

TEST(Morton, a_single_periodic_block_is_its_own_neighbour) {
  const auto self = neighbour_key(0, {-1, 1, 1}, {1, 1, 1}, {true, true, true});
  ASSERT_TRUE(self.has_value());
  EXPECT_TRUE(*self == 0);
}

}  // namespace
}  // namespace octant
