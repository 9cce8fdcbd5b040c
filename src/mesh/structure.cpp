#include "mesh/structure.hpp"

#include <bit>
#include <functional>
#include <string>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "mesh/nesting.hpp"

namespace octant::mesh {

namespace {

// "Your octant has a child": sent to the owner of the parent.
struct Child {
  std::int32_t octant;
  Key parent;
};

std::string name_of(int level, const BlockCoordinates& block) {
  return fmt::format("block ({}, {}, {}) of level {}", block[0], block[1], block[2], level);
}

std::string name_of(int level, Key key) { return name_of(level, morton_decode(key)); }

bool on_grid(const BlockCoordinates& extent, Key key) {
  const BlockCoordinates block = morton_decode(key);
  for (int d = 0; d < 3; ++d)
    if (block[d] >= extent[d]) return false;
  return morton_encode(block) == key;  // or bits are set that no coordinate has
}

class Inspection {
 public:
  Inspection(const Tree& tree, int distance) : tree_(tree), distance_(distance) {}

  void run() const {
    require_base_grid();
    for (int l = 1; l <= tree_.max_level(); ++l) require_parents(l);
    for (int l = 0; l <= tree_.max_level(); ++l) require_children(l);
    for (int l = 1; l < tree_.max_level(); ++l) require_nesting(l);
  }

 private:
  void agree(const std::function<void()>& step) const { tree_.communicator().agree(step); }

  void require_base_grid() const {
    const BlockCoordinates extent = tree_.geometry().extent(0);
    const std::int64_t expected = std::int64_t{extent[0]} * extent[1] * extent[2];
    const std::int64_t found = tree_.communicator().sum(std::int64_t{tree_.level(0).count()});
    if (found != expected)
      throw InputError("level 0 has {} blocks; a grid of {} x {} x {} has {}", found, extent[0],
                       extent[1], extent[2], expected);
  }

  void require_parents(int level) const {
    agree([&] {
      for (const int slot : tree_.level(level).own()) {
        const Key key = tree_.level(level).key(slot);
        if (!tree_.level(level - 1).find(parent_key(key)))
          throw InputError("{} has no parent, {}", name_of(level, key),
                           name_of(level - 1, parent_key(key)));
      }
    });
  }

  // By slot, the octants that have children.
  std::vector<unsigned> octants_with_children(int level) const {
    std::vector<Child> children;
    std::vector<int> owners;
    if (level < tree_.max_level())
      for (const int slot : tree_.level(level + 1).own()) {
        const Key key = tree_.level(level + 1).key(slot);
        children.push_back({octant_of(key), parent_key(key)});
        owners.push_back(tree_.level(level).find(parent_key(key))->owner);
      }
    const auto received = route(tree_.communicator(), owners, std::span<const Child>(children));
    std::vector<unsigned> masks(tree_.level(level).slots(), 0);
    for (const Child& child : received.items)
      masks[tree_.level(level).find(child.parent)->slot] |= 1u << child.octant;
    return masks;
  }

  void require_children(int level) const {
    const auto masks = octants_with_children(level);
    agree([&] {
      for (const int slot : tree_.level(level).own()) {
        const unsigned refined = tree_.level(level).refined(slot);
        if (refined == masks[slot]) continue;
        const int octant = std::countr_zero(refined ^ masks[slot]);
        throw InputError("octant {} of {} {}", octant, name_of(level, tree_.level(level).key(slot)),
                         refined >> octant & 1 ? "is refined but has no child"
                                               : "has a child but is not refined");
      }
    });
  }

  void require_nesting(int level) const {
    const Nesting nesting(tree_.geometry().block_size(), distance_);
    agree([&] {
      for (const int slot : tree_.level(level).own()) {
        const unsigned refined = tree_.level(level).refined(slot);
        const Key key = tree_.level(level).key(slot);
        const auto around = tree_.geometry().keys_around(level, key);
        const std::uint64_t near = nesting.near(refined);
        for (int n = 0; n < 27; ++n)
          if ((near >> Nesting::bit_of(n) & 1) != 0 && around[n] != k_no_key &&
              tree_.level(level).neighbours(slot)[n] == k_nobody)
            throw InputError(
                "{} is refined, but its neighbour {} is missing within {} cells: the scheme or "
                "limiter has a wider stencil than that of the run that wrote the file",
                name_of(level, key), name_of(level, around[n]), distance_);
      }
    });
  }

  const Tree& tree_;
  int distance_;
};

}  // namespace

void require_keys(const Geometry& geometry, int level, std::span<const Key> keys) {
  const BlockCoordinates extent = geometry.extent(level);
  for (std::size_t n = 0; n < keys.size(); ++n) {
    if (!on_grid(extent, keys[n]))
      throw InputError("key {} lies outside of level {}'s {} x {} x {} blocks",
                       fmt::format("{:#x}", static_cast<std::uint64_t>(keys[n])), level, extent[0],
                       extent[1], extent[2]);
    if (n > 0 && keys[n] <= keys[n - 1])
      throw InputError("{} comes {} {}: expected strictly ascending keys", name_of(level, keys[n]),
                       keys[n] == keys[n - 1] ? "twice, after" : "after",
                       name_of(level, keys[n - 1]));
  }
}

void require_octree(const Tree& tree, int distance) { Inspection(tree, distance).run(); }

}  // namespace octant::mesh
