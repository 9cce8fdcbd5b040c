// Ghost cells that one level needs outside a rank's own blocks, their sources, and the tiles that
// read them. Used by Halos.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/geometry.hpp"
#include "mesh/halo.hpp"

namespace octant::mesh {

// Reference to the cells at a block position: an own slot (>= 0), k_none, or source n of the
// level's table, encoded below -1.
using Reference = std::int32_t;
inline constexpr Reference k_none = -1;
// Encodes source n of the level's table.
constexpr Reference reference_to_source(int n) { return -2 - n; }
// True if the reference is a source, not an own slot or k_none.
constexpr bool is_source(Reference r) { return r <= -2; }
// Decodes the number of a source.
constexpr int source_index(Reference r) { return -2 - r; }

// Origin of the cells of a ghost source.
enum class Origin : std::uint8_t { remote, mirrored, interpolated };

// Source of ghost cells: a block position that is not an own block.
struct GhostSource {
  // block position inside the domain, or outside along non-periodic axes
  BlockCoordinates position{};
  Positions requesters = 0;  // bit n: an own block reads this position as its neighbour n
  Region region;             // cells read by sweeps, mirrors and the finer level
  bool is_outside = false;
  bool is_changed = false;   // true if `requesters` changed
  bool is_open = false;      // true if the source must be resolved again
  bool is_required = false;  // true if mirrors or the finer level also read the source
  // true if the finer level interpolates from this source, which must then exist
  bool feeds_finer_level = false;
  Origin origin = Origin::remote;
  bool scratch = false;               // true if stored in scratch memory, not in the halo
  std::int32_t owner = -1;            // rank that sends the cells of a remote source
  std::array<Reference, 7> coarse{};  // cells of the coarser level for an interpolated source
};

// Ghost sources of one level, for its own sweep and for interpolation to the finer level. An update
// looks up only the sources near changed blocks; all others keep their numbers. A source that is
// interpolated from own blocks stays resolved until the coarse block that contains it, or a face
// neighbour of that block, changes.
class GhostPlan {
 public:
  GhostPlan(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int level);

  // Applies the changes of the tree on this level and on the coarser one.
  void follow();

  // Resolves mirrors to their sources, distinguishes remote blocks from interpolated positions, and
  // requests cells of the coarser level (nullptr for the base level). Call after follow() of all
  // levels, from the finest level to the coarsest.
  void resolve(GhostPlan* coarser);

  // Orders the sources (received ones by owner and key, then the rest of the halo, then scratch)
  // and writes the boxes of slots and sources.
  void place(LevelHalo& halo);

  // References to the 27 positions around an own block that its sweep reads.
  const std::array<Reference, 27>& around(int slot) const { return rows_[slot].around; }
  // Slot whose references were added or changed by the last follow(), with a mask of the positions.
  struct Rewritten {
    std::int32_t slot;
    Positions positions;
  };
  // All slots whose references the last follow() added or changed.
  const std::vector<Rewritten>& rewritten() const { return rewritten_; }
  Positions read_positions() const { return read_; }  // positions that a sweep reads

  // Index of the box of a reference. The list contains boxes of slots (possibly more than there are
  // blocks), then, if may_borrow(), the same number of borrowed boxes, then boxes of sources. All
  // indices remain valid until `first_source_box` changes.
  int box_of(Reference r) const { return is_source(r) ? first_source_box_ + source_index(r) : r; }
  // Index of the borrowed box of a slot.
  int borrowed_box_of(int slot) const { return capacity_ + slot; }
  // True for boxes of slots, borrowed ones included.
  bool is_box_of_slot(int box) const { return box >= 0 && box < capacity_; }
  // True if tiles of this level may extend across a periodic boundary to blocks of other tiles.
  bool may_borrow() const { return may_borrow_; }
  // Index of the first box of a source.
  int first_source_box() const { return first_source_box_; }

  // Source of a reference.
  const GhostSource& source_of(Reference r) const { return sources_[source_index(r)]; }
  // Source by number.
  const GhostSource& source(int n) const { return sources_[n]; }
  // Boundary task of mirrored source n; its target and source are references, not boxes.
  const BoundaryTask& mirror(int n) const { return mirrors_[n]; }

  // Numbers of the remote sources, in the order of their boxes.
  std::span<const int> remote() const { return std::span(placed_).first(remote_); }
  // Numbers of the mirrored sources, in the order of their boxes.
  std::span<const int> mirrored() const { return std::span(placed_).subspan(remote_, mirrored_); }
  // Numbers of the interpolated sources, in the order of their boxes.
  std::span<const int> interpolated() const {
    return std::span(placed_).subspan(remote_ + mirrored_);
  }

  // Returns true if the cells of a reference come from another rank, directly or through a mirror.
  bool is_remote(Reference r) const;

 private:
  struct Row {
    Key key = k_no_key;  // key of the central block
    std::array<Reference, 27> around;
  };

  Reference require(BlockCoordinates position, const Region& region, bool feeds_finer_level);
  Reference number_of(const BlockCoordinates& position);
  void release(Row& row);
  GhostSource& change(Reference r);
  void drop(Reference r, int neighbour);
  void request_ghosts(int slot, Positions positions);
  Region region_of(Positions requesters) const;
  bool has_changed_coarse_block(std::int32_t coarse_slot) const;
  void open(int n);
  void find_holder(int n, GhostPlan* coarser);
  void resolve_mirror(int n);
  void interpolate(int n, GhostPlan& coarser);
  void remove_source(int n);
  void write_slot_boxes(LevelHalo& halo);

  const Tree& tree_;
  BlockLayout layout_;
  int level_;
  std::array<Region, 27> ghosts_;  // cells of each neighbour of a block that its sweep reads
  Positions read_ = 0;             // mask of the neighbours with cells that the sweep reads
  bool may_borrow_;
  std::vector<Row> rows_;  // by slot
  std::vector<Rewritten> rewritten_;
  KeyTable<std::int32_t> index_;
  std::vector<GhostSource> sources_;
  // For each source, the slot of the coarse block from which it is interpolated, or k_not_located,
  // or k_unused.
  static constexpr std::int32_t k_not_located = -1, k_unused = -2;
  std::vector<std::int32_t> coarse_slots_;
  std::vector<BoundaryTask> mirrors_;  // by source number; used for mirrored sources only
  std::vector<int> changed_, open_, free_, placed_;
  std::size_t remote_ = 0, mirrored_ = 0;  // numbers of remote and mirrored sources in placed_
  int capacity_ = 0, first_source_box_ = 0;
};

// Grouping of the own blocks of a level into tiles, with the table of blocks around each tile.
class Tiling {
 public:
  Tiling(const Tree& tree, int level) : tree_(tree), level_(level) {}

  // Writes tables, tiles of side `patch` (0: the size with the higher estimated speed) and flux
  // requests, interior tiles first, and uploads changes. Table entries are rewritten only for
  // blocks that changed.
  void follow(int patch, const GhostPlan& plan, const FluxRequests& requests, LevelHalo& halo);

 private:
  // Blocks with a common table: one block (N >= M), or the blocks under one ancestor.
  struct Group {
    // key of the common ancestor, or of the large block; k_no_key if the group is unused
    Key ancestor = k_no_key;
    BlockCoordinates first{};         // position of the first central block of the table
    std::vector<std::int32_t> slots;  // sorted by key
    std::vector<FluxRegisterFaces> requests;
    // numbers of flux requests per tile, or per slot if the group is one tile
    std::vector<int> counts;
    bool touched = false, has_remote_data = false;
    bool is_new = false;  // true if the whole table must be written
  };
  struct GroupPosition {  // group of a block, and position of the block in the group
    Key key = k_no_key;
    std::int32_t group = -1;
    std::array<std::int8_t, 3> in_group{};  // position relative to the group's first central block
  };

  int faster_patch() const;
  void rebuild(int patch, int first_source_box);
  void update_positions();
  void put(int slot, Key key);
  void take(int slot);
  int group_under(Key ancestor);
  Group& touch(int group);
  int group_of(int slot) const;
  void remove_empty_groups();
  struct RemovedBlock {  // removed block, with its former position
    int group;
    Key ancestor;
    std::array<int, 3> position;
  };
  void write_rows(const GhostPlan& plan, DeviceTable<std::int32_t>& tables);
  void clear_unread(const RemovedBlock& lost, const GhostPlan& plan, std::int32_t* table) const;
  bool is_read(const std::array<int, 3>& position, const GhostPlan& plan,
               const std::int32_t* table) const;
  void write_table(int number, const GhostPlan& plan, DeviceTable<std::int32_t>& tables) const;
  void write_row(int slot, Positions positions, const GhostPlan& plan, std::int32_t* table) const;
  static bool reads_remote_data(const Group& group, const GhostPlan& plan);
  void write_requests(int slot, const FluxRequests& requests);
  static void replace_requests(Group& group, int part, std::span<const FluxRegisterFaces> requests);
  void add_request(const FluxRegisterFaces& request, const std::array<int, 3>& position,
                   const std::array<std::int16_t, 3>& origin,
                   std::vector<FluxRegisterFaces>& requests) const;
  void write_lists(LevelHalo& halo) const;

  bool reaches_itself(int group, int slot, const std::array<int, 3>& position) const;
  bool is_central(const std::array<int, 3>& position) const;
  std::array<int, 3> position_in_group(int slot) const;
  int table_index(const std::array<int, 3>& position) const {
    return ((position[2] + 1) * reach_ + position[1] + 1) * reach_ + position[0] + 1;
  }
  int entries() const { return reach_ * reach_ * reach_; }
  // Table of a group, for writing.
  std::int32_t* table_of(int group, DeviceTable<std::int32_t>& tables) const {
    return tables.write(static_cast<std::size_t>(group) * entries(), entries());
  }

  const Tree& tree_;
  int level_;
  int patch_ = 0, first_source_box_ = -1, block_size_ = 0, blocks_per_patch_ = 0, reach_ = 0;
  Cubes patches_{1, 1};
  std::array<int, 27> steps_;  // offsets in a table from an entry to the 27 positions around it
  // lower corners of the parts of a large block, in cells of the block
  std::vector<std::array<std::int16_t, 3>> origins_;
  std::vector<GroupPosition> positions_;  // by slot
  std::vector<Group> groups_;
  KeyTable<std::int32_t> index_;  // index of groups by ancestor
  // touched_: groups that must be written; free_: unused groups; order_: groups in use, by key
  std::vector<int> touched_, free_, order_;
  // blocks that were removed since the last update from groups that still exist
  std::vector<RemovedBlock> removed_blocks_;
  // temporary lists of write_requests()
  std::vector<FluxRegisterFaces> block_requests_, tile_requests_;
};

}  // namespace octant::mesh
