// Morton keys: addresses of blocks within their level.
//
// A key interleaves the bits of the block's integer coordinates, with x in the lowest bit:
//   ... z1 y1 x1 z0 y0 x0
// The parent's key is the key without its last three bits, and those three bits are the octant ix +
// 2 iy + 4 iz of the block in its parent. Keys do not contain the level. Unused upper bits are
// zero. See the cuRAMSES paper, section 4.2 and appendix A.
//
// All functions are constexpr, take O(1) operations, and expect 0 <= coordinate <
// k_key_coordinate_end; only `neighbour_key` checks ranges.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace octant {

#ifdef OCTANT_KEY128
using Key = unsigned __int128;
using BlockCoordinate = std::int64_t;
inline constexpr int k_key_bits_per_axis = 42;
#else
using Key = std::uint64_t;
using BlockCoordinate = std::int32_t;
inline constexpr int k_key_bits_per_axis = 21;
#endif

// Position of a block within its level, in blocks of that level: (x, y, z).
using BlockCoordinates = std::array<BlockCoordinate, 3>;

// One past the largest coordinate of a key.
inline constexpr BlockCoordinate k_key_coordinate_end = BlockCoordinate{1} << k_key_bits_per_axis;

// Invalid key; no block has it.
inline constexpr Key k_no_key = ~Key{0};

namespace detail {

// Moves bit b of a 21-bit number to bit 3b, in five steps that halve the groups of adjacent bits.
constexpr std::uint64_t spread_21_bits(std::uint64_t v) {
  v &= 0x00000000001fffff;
  v = (v | v << 32) & 0x001f00000000ffff;
  v = (v | v << 16) & 0x001f0000ff0000ff;
  v = (v | v << 8) & 0x100f00f00f00f00f;
  v = (v | v << 4) & 0x10c30c30c30c30c3;
  v = (v | v << 2) & 0x1249249249249249;
  return v;
}

// Inverse of spread_21_bits; ignores all other bits.
constexpr std::uint64_t gather_21_bits(std::uint64_t v) {
  v &= 0x1249249249249249;
  v = (v | v >> 2) & 0x10c30c30c30c30c3;
  v = (v | v >> 4) & 0x100f00f00f00f00f;
  v = (v | v >> 8) & 0x001f0000ff0000ff;
  v = (v | v >> 16) & 0x001f00000000ffff;
  v = (v | v >> 32) & 0x00000000001fffff;
  return v;
}

// Moves the bits of a coordinate to every third bit of a key.
constexpr Key spread(BlockCoordinate coordinate) {
  const auto v = static_cast<std::uint64_t>(coordinate);
#ifdef OCTANT_KEY128
  return Key{spread_21_bits(v)} | Key{spread_21_bits(v >> 21)} << 63;
#else
  return spread_21_bits(v);
#endif
}

// Inverse of spread().
constexpr BlockCoordinate gather(Key key) {
#ifdef OCTANT_KEY128
  const auto low = static_cast<std::uint64_t>(key), high = static_cast<std::uint64_t>(key >> 63);
  return static_cast<BlockCoordinate>(gather_21_bits(low) | gather_21_bits(high) << 21);
#else
  return static_cast<BlockCoordinate>(gather_21_bits(key));
#endif
}

}  // namespace detail

// The key of the block at `c`.
constexpr Key morton_encode(const BlockCoordinates& c) {
  return detail::spread(c[0]) | detail::spread(c[1]) << 1 | detail::spread(c[2]) << 2;
}

// The coordinates of the block with this key.
constexpr BlockCoordinates morton_decode(Key key) {
  return {detail::gather(key), detail::gather(key >> 1), detail::gather(key >> 2)};
}

// Key, one level coarser, of the block that contains this one.
constexpr Key parent_key(Key key) { return key >> 3; }

// Key, one level finer, of the child in the octant ix + 2 iy + 4 iz.
constexpr Key child_key(Key key, int octant) { return key << 3 | static_cast<Key>(octant); }

// Octant ix + 2 iy + 4 iz of a block in its parent.
constexpr int octant_of(Key key) { return static_cast<int>(key & 7); }

// Key of the block `offset` blocks away on the same level, which has `extent` blocks per axis.
// Coordinates wrap around along periodic axes (offsets up to one extent); no value if the block
// would be outside along another axis.
constexpr std::optional<Key> neighbour_key(Key key, const std::array<int, 3>& offset,
                                           const BlockCoordinates& extent,
                                           const std::array<bool, 3>& periodic) {
  BlockCoordinates c = morton_decode(key);
  for (int axis = 0; axis < 3; ++axis) {
    c[axis] += offset[axis];
    const bool below = c[axis] < 0, above = c[axis] >= extent[axis];
    if ((below || above) && !periodic[axis]) return std::nullopt;
    if (below) c[axis] += extent[axis];
    if (above) c[axis] -= extent[axis];
  }
  return morton_encode(c);
}

}  // namespace octant
