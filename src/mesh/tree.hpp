// The distributed octree: existing blocks, their owners, and their refined octants.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/key_table.hpp"
#include "mesh/geometry.hpp"

namespace octant::mesh {

// Entry of a block: owner, and slot if this rank owns the block, else -1.
struct Node {
  std::int32_t owner = -1;
  std::int32_t slot = -1;
};

// Holder of a block position: a slot of this rank (>= 0), another rank, or nobody (no such block,
// or the position lies beyond a boundary).
using Holder = std::int32_t;
inline constexpr Holder k_nobody = -1;
// Encodes another rank as a holder.
constexpr Holder encode_rank(int rank) { return -2 - rank; }
// True if the holder is a slot of this rank.
constexpr bool is_own(Holder holder) { return holder >= 0; }
// Decodes the rank of a holder on another rank.
constexpr int rank_of(Holder other) { return -2 - other; }

// Holders of the 27 positions around a block, [z][y][x], the block itself in the middle.
using Neighbours = std::array<Holder, 27>;
// Positions of the face neighbours: below and above in x, y, z.
inline constexpr std::array<int, 6> k_face_neighbours{12, 14, 10, 16, 4, 22};

// Mask of some of the 27 positions: bit n for position n.
using Positions = std::uint32_t;
inline constexpr Positions k_all_positions = (1u << 27) - 1;
inline constexpr int k_middle = 13;  // position of the block itself

// Own blocks of one level, and the other ranks' blocks around them.
class TreeLevel {
 public:
  TreeLevel(const Geometry& geometry, int level) : geometry_(geometry), level_(level) {}

  // Adds an own block and returns its slot (the lowest free one).
  int insert(Key key, std::uint8_t refined, int rank);
  // Removes an own block.
  void remove(Key key);
  void clear();  // removes all blocks, own ones and those of other ranks

  // The block's node, or nullptr if it is not in this rank's tables. After Tree::discover, nullptr
  // at positions next to own blocks and to their parents means that no such block exists.
  const Node* find(Key key) const { return nodes_.find(key); }

  // Holders of the 27 positions around an own block, as find() gives them. Every insertion or
  // removal of a block updates the tables of its neighbours.
  const Neighbours& neighbours(int slot) const { return neighbours_[slot]; }

  // Own slots in the order of their keys. sort() must be called after changes.
  std::span<const int> own() const { return own_; }
  // Sorts the own slots by key.
  void sort();

  // Number of own blocks.
  int count() const { return static_cast<int>(nodes_in_use_); }
  int slots() const { return static_cast<int>(keys_.size()); }  // number of slots, also free ones
  // Key of the block in a slot.
  Key key(int slot) const { return keys_[slot]; }
  // Mask of the refined octants of the block in a slot.
  std::uint8_t refined(int slot) const { return refined_[slot]; }
  // Sets the mask of the refined octants.
  void set_refined(int slot, std::uint8_t mask) { refined_[slot] = mask; }

  // Adds a block of another rank.
  void record_owner(Key key, int owner);
  // Removes a block of another rank.
  void erase(Key key);
  std::vector<Key> others() const;  // keys of other ranks' blocks, in any order

  // Positions whose holder changed since clear_changes(); may have duplicates.
  const std::vector<Key>& changed() const { return changed_; }
  // Slots, without duplicates, whose block was added or removed, or whose neighbour has a new
  // holder, since clear_changes(). Slots may be empty now, or lie beyond slots().
  const std::vector<int>& touched() const { return touched_; }
  // Mask of positions around the slot's block whose holder changed since clear_changes(); all if
  // the block was added or removed.
  Positions changed_around(int slot) const {
    return slot < std::ssize(changed_around_) ? changed_around_[slot] : 0;
  }
  // True if the slot's block was added since clear_changes().
  bool is_new(int slot) const { return (changed_around(slot) >> k_middle & 1) != 0; }
  // Clears the lists of changes.
  void clear_changes();

  // Memory of the tables in bytes.
  std::size_t bytes() const;

 private:
  void update_neighbours(Key key, Holder holder);
  void mark_changed(int slot, Positions positions);

  Geometry geometry_;
  int level_;
  KeyTable<Node> nodes_;
  std::vector<Neighbours> neighbours_;  // by slot
  std::vector<Key> changed_;
  std::vector<int> touched_;
  std::vector<Positions> changed_around_;   // by slot that was ever in use
  std::vector<Key> keys_;                   // by slot; k_no_key if free
  std::vector<std::uint8_t> refined_;       // by slot
  std::vector<int> free_, own_, unsorted_;  // unsorted_: slots inserted since the last sort()
  std::size_t nodes_in_use_ = 0;
};

// Octree of blocks: levels 0 to max_level(), any of which may be empty.
class Tree {
 public:
  Tree(const Geometry& geometry, const Communicator& communicator);

  // Domain and levels.
  const Geometry& geometry() const { return geometry_; }
  // Communicator of all ranks that share the octree.
  const Communicator& communicator() const { return communicator_; }
  // Finest level that may exist.
  int max_level() const { return geometry_.max_level(); }
  // Blocks of a level.
  TreeLevel& level(int l) { return levels_[l]; }
  // Blocks of a level, for reading.
  const TreeLevel& level(int l) const { return levels_[l]; }

  // Sorts every level and finds the owners of the blocks next to own blocks, of the parents, and of
  // the blocks next to the parents. Collective. The directory is distributed over all ranks by a
  // hash of (level, key), and only changed blocks are sent to it.
  void discover();

  // Clears the change lists, once all dependent tables are updated.
  void clear_changes();

  // Owners of the blocks with the given keys, -1 where the level has no block. Positions may be far
  // from own blocks. Collective.
  std::vector<std::int32_t> owners(int level, std::span<const Key> keys) const;

  // Number of blocks on all ranks, by level. Collective.
  std::vector<std::int64_t> global_counts() const;

 private:
  struct Query {
    std::int32_t level;
    Key key;
  };
  void register_changes();
  std::vector<Query> open_queries() const;
  void keep_only(const std::vector<Query>& queries);
  std::vector<std::int32_t> query_directory(const std::vector<Query>& queries) const;

  Geometry geometry_;
  Communicator communicator_;
  std::vector<TreeLevel> levels_;
  std::vector<KeyTable<std::int32_t>> directory_;  // by level: owners of this rank's keys
};

}  // namespace octant::mesh
