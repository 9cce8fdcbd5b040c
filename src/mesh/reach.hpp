// Search for the leaf cells within a radius of points, on all levels and ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/route.hpp"
#include "mesh/mesh.hpp"

namespace octant::mesh {

using Position = std::array<double, 3>;

// Displacement from one point to another; uses the nearest image along periodic axes.
Position nearest_image(const Geometry& geometry, const Position& from, const Position& to);

// A sphere around a point, in code length. The search begins at the own block that contains the
// point, identified by `level` and `slot`; without them (-1) the directory of all blocks is used.
struct Sphere {
  Position centre{};
  double radius = 0.0;
  std::int32_t level = -1, slot = -1;
};

// Overlap of an item's sphere with leaf octants of an own block.
struct SphereOverlap {
  std::int32_t item, level, slot;
  std::uint8_t octants;  // mask of octants
};

// Items whose spheres overlap leaf octants of this rank's blocks, ordered by source and number:
// bytes of the items, ranks that sent them (including this one), and numbers of the items on those
// ranks. `overlaps` is ordered by item.
struct ReachedBytes {
  std::vector<std::byte> items;
  std::vector<int> sources;
  std::vector<std::int32_t> numbers;
  std::vector<SphereOverlap> overlaps;
  bool any = false;  // true, on all ranks, if any rank gave an item
};
// Performs reach() for items stored as bytes, `item_bytes` per item. Collective.
ReachedBytes reach_bytes(const Mesh& mesh, std::span<const Sphere> spheres,
                         std::span<const std::byte> items, std::size_t item_bytes);

// Items whose spheres overlap leaf octants of this rank's blocks; see ReachedBytes.
template <class T>
struct Reached {
  std::vector<T> items;
  std::vector<int> sources;
  std::vector<std::int32_t> numbers;
  std::vector<SphereOverlap> overlaps;
  bool any = false;
};

// Sends each item to all ranks that own leaf octants overlapping the item's sphere (nearest image
// on periodic axes). A radius may span many blocks, but at most half of a periodic domain. Items
// pass from the blocks around a point to finer blocks, one round of messages per level and one that
// ends the search, and only to ranks near the point. The work scales with the number of octants
// found, not with the size of the mesh, if the starting block of each sphere is no smaller than its
// radius. Throws RunError if a radius is too large. Collective.
template <Copyable T>
Reached<T> reach(const Mesh& mesh, std::span<const Sphere> spheres, std::span<const T> items) {
  ReachedBytes bytes = reach_bytes(mesh, spheres, std::as_bytes(items), sizeof(T));
  return {items_of<T>(bytes.items), std::move(bytes.sources), std::move(bytes.numbers),
          std::move(bytes.overlaps), bytes.any};
}

}  // namespace octant::mesh
