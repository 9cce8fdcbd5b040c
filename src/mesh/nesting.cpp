#include "mesh/nesting.hpp"

#include <array>
#include <bit>
#include <functional>
#include <string>

#include "comm/route.hpp"
#include "core/error.hpp"

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

namespace {

// Request to refine an octant, sent to the owner of the block.
struct Mark {
  std::int32_t level;
  std::int32_t octant;
  Key key;
};

// Mask of the bits of a block's own octants in a flag mask.
constexpr std::uint64_t k_within = 0x0000066006600000;
constexpr auto octants_within(std::uint64_t flags) {
  return static_cast<std::uint8_t>((flags >> 21 & 3) | (flags >> 25 & 3) << 2 |
                                   (flags >> 37 & 3) << 4 | (flags >> 41 & 3) << 6);
}

// Mask of the flags of a block that refer to its neighbour at position n, and the left shift that
// moves them to the bits of the neighbour's own octants.
struct NeighbourFlags {
  std::uint64_t mask = 0;
  int shift = 0;
};
constexpr auto k_neighbour_flags = [] {
  std::array<NeighbourFlags, 27> neighbours;
  for (int bit = 0; bit < 64; ++bit) {
    const int x = bit & 3, y = bit >> 2 & 3, z = bit >> 4;  // 0 below, 1-2 own, 3 above
    const int n = (x + 1) / 2 + 3 * ((y + 1) / 2) + 9 * ((z + 1) / 2);
    neighbours[n].mask |= std::uint64_t{1} << bit;
  }
  for (int n = 0; n < 27; ++n)
    neighbours[n].shift = 2 * (1 - n % 3) + 8 * (1 - n / 3 % 3) + 32 * (1 - n / 9);
  return neighbours;
}();
constexpr std::uint8_t octants_of_neighbour(std::uint64_t flags, int n) {
  const auto [mask, shift] = k_neighbour_flags[n];
  const std::uint64_t of_neighbour = flags & mask;
  return octants_within(shift < 0 ? of_neighbour >> -shift : of_neighbour << shift);
}

class Planner {
 public:
  Planner(const Tree& tree, const FlagMasks& flags) : tree_(tree), wanted_(tree.max_level() + 1) {
    for (int l = 0; l <= tree.max_level(); ++l) wanted_[l].assign(tree.level(l).slots(), 0);
    for (int l = 0; l < tree.max_level(); ++l)
      for (const int slot : tree.level(l).own())
        if (flags[l][slot]) spread_own_flags(l, slot, flags[l][slot]);
    deliver();
  }

  OctantMasks run(int distance) {
    const Nesting nesting(tree_.geometry().block_size(), distance);
    for (int l = tree_.max_level() - 1; l > 0; --l) {
      demand_nesting(l, nesting);
      deliver();
    }
    return std::move(wanted_);
  }

 private:
  // Marks the octants of an own block and of its neighbours that are near its flagged cells.
  void spread_own_flags(int level, int slot, std::uint64_t flags) {
    wanted_[level][slot] |= octants_within(flags);
    flags &= ~k_within;
    if (flags == 0) return;
    const Neighbours& holders = tree_.level(level).neighbours(slot);
    for (int n = 0; n < 27; ++n) {
      if (!is_own(holders[n]) || (flags & k_neighbour_flags[n].mask) == 0) continue;
      wanted_[level][holders[n]] |= octants_of_neighbour(flags, n);
      flags &= ~k_neighbour_flags[n].mask;
    }
    spread_flags(level, tree_.level(level).key(slot), flags);
  }

  // Marks the octants in and around any block, one by one.
  void spread_flags(int level, Key key, std::uint64_t flags) {
    const BlockCoordinates block = morton_decode(key);
    for (; flags; flags &= flags - 1) {
      const int bit = __builtin_ctzll(flags);
      const int position[3] = {bit & 3, bit >> 2 & 3, bit >> 4};  // 0 below, 1-2 own, 3 above
      // coordinates in units of octants of this level, which are blocks of the next level
      BlockCoordinates child;
      for (int d = 0; d < 3; ++d) child[d] = 2 * block[d] + position[d] - 1;
      mark(level, child);
    }
  }

  // Marks the octant at `octant`, in coordinates of blocks of level + 1. If the block that contains
  // the octant does not exist, the octant of the coarser level that contains it is marked.
  void mark(int level, BlockCoordinates octant) {
    if (!tree_.geometry().wrap(level + 1, octant)) return;
    const Key child = morton_encode(octant);
    if (const Node* node = tree_.level(level).find(parent_key(child)))
      send({level, octant_of(child), parent_key(child)}, *node);
    else mark(level - 1, {octant[0] >> 1, octant[1] >> 1, octant[2] >> 1});
  }

  void send(const Mark& m, const Node& node) {
    if (node.slot >= 0) {
      wanted_[m.level][node.slot] |= static_cast<std::uint8_t>(1 << m.octant);
    } else {
      marks_.push_back(m);
      owners_.push_back(node.owner);
    }
  }

  // Marks octants of the coarser level so that every block with refined octants exists, and also
  // all blocks of its level within the nesting distance. Requests of siblings are combined.
  void demand_nesting(int level, const Nesting& nesting) {
    const TreeLevel& blocks = tree_.level(level);
    Key parent = k_no_key;
    std::uint64_t flags = 0;
    const auto spread = [&] {
      if (flags == 0) return;
      const Node* node = tree_.level(level - 1).find(parent);
      if (node != nullptr && node->slot >= 0) spread_own_flags(level - 1, node->slot, flags);
      else spread_flags(level - 1, parent, flags);
      flags = 0;
    };
    for (const int slot : blocks.own()) {
      if (!wanted_[level][slot]) continue;
      const Key key = blocks.key(slot);
      if (parent_key(key) != parent) spread();
      parent = parent_key(key);
      const int octant = octant_of(key);
      const int shift = (octant & 1) + 4 * (octant >> 1 & 1) + 16 * (octant >> 2);
      flags |= nesting.near(wanted_[level][slot]) << shift;
    }
    spread();
  }

  void deliver() {
    const auto received = route<Mark>(tree_.communicator(), owners_, marks_);
    for (const Mark& m : received.items) {
      const Node* node = tree_.level(m.level).find(m.key);
      OCTANT_REQUIRE(node && node->slot >= 0,
                     "mesh: a refinement flag was sent to a rank that does not own the block");
      wanted_[m.level][node->slot] |= static_cast<std::uint8_t>(1 << m.octant);
    }
    marks_.clear();
    owners_.clear();
  }

  const Tree& tree_;
  OctantMasks wanted_;
  std::vector<Mark> marks_;
  std::vector<int> owners_;
};

}  // namespace

OctantMasks plan_refinement(const Tree& tree, const FlagMasks& flags, int distance) {
  return Planner(tree, flags).run(distance);
}

namespace {

// Message to the owner of a parent block that one of its octants has a child.
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
  return morton_encode(block) == key;  // false if unused bits of the key are set
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
  void collective_try(const std::function<void()>& step) const {
    tree_.communicator().collective_try(step);
  }

  void require_base_grid() const {
    const BlockCoordinates extent = tree_.geometry().extent(0);
    const std::int64_t expected = std::int64_t{extent[0]} * extent[1] * extent[2];
    const std::int64_t found = tree_.communicator().sum(std::int64_t{tree_.level(0).count()});
    if (found != expected)
      throw InputError("level 0 has {} blocks; expected {} x {} x {} = {}", found, extent[0],
                       extent[1], extent[2], expected);
  }

  void require_parents(int level) const {
    collective_try([&] {
      for (const int slot : tree_.level(level).own()) {
        const Key key = tree_.level(level).key(slot);
        if (!tree_.level(level - 1).find(parent_key(key)))
          throw InputError("{} has no parent, {}", name_of(level, key),
                           name_of(level - 1, parent_key(key)));
      }
    });
  }

  // Returns the masks of octants with children, by slot; 0 for blocks of other ranks. Collective.
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
    collective_try([&] {
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
    collective_try([&] {
      for (const int slot : tree_.level(level).own()) {
        const unsigned refined = tree_.level(level).refined(slot);
        const Key key = tree_.level(level).key(slot);
        const auto around = tree_.geometry().keys_around(level, key);
        const std::uint64_t near = nesting.near(refined);
        for (int n = 0; n < 27; ++n)
          if ((near >> Nesting::bit_of(n) & 1) != 0 && around[n] != k_no_key &&
              tree_.level(level).neighbours(slot)[n] == k_nobody)
            throw InputError(
                "{} is refined, but its neighbour {}, which lies within the stencil of {} cells, "
                "does not exist: the stencil of the scheme or limiter is wider than in the run "
                "that wrote the file; restart with the original scheme and limiter",
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
      throw InputError("key {} lies outside the grid of level {}, {} x {} x {} blocks",
                       fmt::format("{:#x}", static_cast<std::uint64_t>(keys[n])), level, extent[0],
                       extent[1], extent[2]);
    if (n > 0 && keys[n] <= keys[n - 1])
      throw InputError("{} {} {}: expected strictly increasing keys", name_of(level, keys[n]),
                       keys[n] == keys[n - 1] ? "occurs twice, after" : "after",
                       name_of(level, keys[n - 1]));
  }
}

void require_octree(const Tree& tree, int distance) { Inspection(tree, distance).run(); }

}  // namespace octant::mesh
