#include "mesh/refinement_plan.hpp"

#include <array>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "mesh/nesting.hpp"

namespace octant::mesh {

namespace {

// "This octant must be refined": sent to the block's owner.
struct Mark {
  std::int32_t level;
  std::int32_t octant;
  Key key;
};

// Of the flags of a block, those of its own octants, and these as a mask.
constexpr std::uint64_t k_within = 0x0000066006600000;
constexpr auto octants_within(std::uint64_t flags) {
  return static_cast<std::uint8_t>((flags >> 21 & 3) | (flags >> 25 & 3) << 2 |
                                   (flags >> 37 & 3) << 4 | (flags >> 41 & 3) << 6);
}

// Flags of octants of the neighbour at position n of a block, and how far to the left they are
// shifted to where those of the neighbour's own octants are in its flags.
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
  // Marks the octants of an own block and of its neighbours that its flagged cells touch.
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

  // The same around any block, one octant after the other.
  void spread_flags(int level, Key key, std::uint64_t flags) {
    const BlockCoordinates block = morton_decode(key);
    for (; flags; flags &= flags - 1) {
      const int bit = __builtin_ctzll(flags);
      const int position[3] = {bit & 3, bit >> 2 & 3, bit >> 4};  // 0 below, 1-2 own, 3 above
      BlockCoordinates place;  // in octants of this level, that is in blocks of the next
      for (int d = 0; d < 3; ++d) place[d] = 2 * block[d] + position[d] - 1;
      mark(level, place);
    }
  }

  // Marks the octant at these coordinates (blocks of level + 1). Where the level has no block
  // there, the coarser octant is marked instead, so that the level grows towards it.
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

  // A block with refined octants must exist, and so must all blocks of its level within the
  // nesting's distance of them. What siblings demand of the level beneath is spread at once.
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
      OCTANT_REQUIRE(node && node->slot >= 0, "mesh: a mark reached a rank that has no such block");
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

}  // namespace octant::mesh
