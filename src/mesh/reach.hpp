// What lies within reach of a point: the leaf cells around it, on whatever level and rank.
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

// The way from one place to another in the domain: across periodic boundaries if that is shorter.
Position nearest_image(const Geometry& geometry, const Position& from, const Position& to);

// A sphere around a point, in code length. `level` and `slot` name an own block that holds the
// point, from which the search begins; without them it asks the directory of all blocks.
struct Sphere {
  Position centre{};
  double radius = 0.0;
  std::int32_t level = -1, slot = -1;
};

// Octants of an own block that an item's sphere meets, all of them leaves.
struct Met {
  std::int32_t item, level, slot;
  std::uint8_t octants;  // a mask
};

// Items whose spheres meet leaf octants of this rank's blocks: their bytes, the ranks that sent
// them (this one, too) and their numbers there, ordered by both. `met` is ordered by item.
struct ReachedBytes {
  std::vector<std::byte> items;
  std::vector<int> sources;
  std::vector<std::int32_t> numbers;
  std::vector<Met> met;
};
ReachedBytes reach_bytes(const Mesh& mesh, std::span<const Sphere> spheres,
                         std::span<const std::byte> items, std::size_t item_bytes);

template <class T>
struct Reached {
  std::vector<T> items;
  std::vector<int> sources;
  std::vector<std::int32_t> numbers;
  std::vector<Met> met;
};

// Brings each item to all ranks with leaf cells in octants that its sphere meets, by the nearest
// image. A radius may span many blocks, but not more than half of a periodic domain. Items travel
// from the blocks around a point down to finer ones, a round per level, and nothing comes to ranks
// that are far; the work is that of the octants met, not of the mesh, where spheres name blocks of
// no less than their radius. Throws RunError if a radius is too large. Collective.
template <Copyable T>
Reached<T> reach(const Mesh& mesh, std::span<const Sphere> spheres, std::span<const T> items) {
  ReachedBytes bytes = reach_bytes(mesh, spheres, std::as_bytes(items), sizeof(T));
  return {items_of<T>(bytes.items), std::move(bytes.sources), std::move(bytes.numbers),
          std::move(bytes.met)};
}

}  // namespace octant::mesh
