// Ghost cells that one level needs beyond a rank's own blocks, their sources, and the tiles that
// read them. Used by the halos.
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
constexpr Reference reference_to_source(int need) { return -2 - need; }
constexpr bool is_source(Reference r) { return r <= -2; }
constexpr int source_of(Reference r) { return -2 - r; }

enum class Origin : std::uint8_t { remote, mirrored, interpolated };

// Source of ghost cells: a block position that is not an own block.
struct GhostSource {
  BlockCoordinates position{};  // inside the domain, or outside along non-periodic axes
  Positions requesters = 0;     // bit n: an own block reads this position as its neighbour n
  Region region;                // cells read by sweeps, mirrors and the finer level
  bool is_outside = false;
  bool is_changed = false;         // its requesters changed
  bool is_open = false;            // it is to be resolved again
  bool is_required = false;        // read by mirrors or the finer level as well
  bool feeds_finer_level = false;  // the finer level interpolates from it; it must exist
  Origin origin = Origin::remote;
  bool scratch = false;               // stored in scratch memory, not in the halo
  std::int32_t owner = -1;            // remote: the sending rank
  std::array<Reference, 7> coarse{};  // interpolated: references on the coarser level
};

// Ghost sources of one level, for its own sweep and for interpolation to the finer level. Updates
// look up only the sources near changed blocks; all others keep their numbers. A source that is
// interpolated from own blocks is resolved until the coarse block that contains it, or one across a
// face of that block, changes.
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
  // Slots whose references are new or changed by the last follow(), with a mask of the positions.
  struct Rewritten {
    std::int32_t slot;
    Positions positions;
  };
  const std::vector<Rewritten>& rewritten() const { return rewritten_; }
  Positions read_positions() const { return read_; }  // positions that a sweep reads

  // The box list has boxes of slots (possibly more than there are blocks), then, if may_borrow(),
  // the same again as borrowed boxes, then boxes of sources. All numbers remain valid until
  // `first_need_box` changes.
  int box_of(Reference r) const { return is_source(r) ? first_need_box_ + source_of(r) : r; }
  int borrowed_box_of(int slot) const { return capacity_ + slot; }
  bool is_box_of_slot(int box) const { return box >= 0 && box < capacity_; }
  bool may_borrow() const { return may_borrow_; }
  int first_need_box() const { return first_need_box_; }

  const GhostSource& need(Reference r) const { return sources_[source_of(r)]; }
  const GhostSource& source_number(int n) const { return sources_[n]; }
  // Boundary task of a mirrored source, with references as target and source.
  const BoundaryTask& mirror(int n) const { return mirrors_[n]; }

  // Source numbers in placement order, by origin.
  std::span<const int> remote() const { return std::span(placed_).first(remote_); }
  std::span<const int> mirrored() const { return std::span(placed_).subspan(remote_, mirrored_); }
  std::span<const int> interpolated() const {
    return std::span(placed_).subspan(remote_ + mirrored_);
  }

  // Returns true if the cells come from another rank, directly or through a mirror.
  bool is_remote(Reference r) const;

 private:
  struct Row {
    Key key = k_no_key;  // of the central block
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
  void open(int need);
  void find_holder(int need, GhostPlan* coarser);
  void resolve_mirror(int need);
  void interpolate(int need, GhostPlan& coarser);
  void remove_source(int need);
  void write_slot_boxes(LevelHalo& halo);

  const Tree& tree_;
  BlockLayout layout_;
  int level_;
  std::array<Region, 27> ghosts_;  // cells of each neighbour of a block that its sweep reads
  Positions read_ = 0;             // neighbours with such cells
  bool may_borrow_;
  std::vector<Row> rows_;  // by slot
  std::vector<Rewritten> rewritten_;
  KeyTable<std::int32_t> index_;
  std::vector<GhostSource> sources_;
  // For each source, the slot of the coarse block from which it is interpolated, or one of these
  // constants.
  static constexpr std::int32_t k_not_located = -1, k_unused = -2;
  std::vector<std::int32_t> coarse_slots_;
  std::vector<BoundaryTask> mirrors_;  // by source, for mirrored ones
  std::vector<int> changed_, open_, free_, placed_;
  std::size_t remote_ = 0, mirrored_ = 0;  // numbers of placed sources
  int capacity_ = 0, first_need_box_ = 0;
};

// Groups the own blocks of a level into tiles and builds the table of blocks around each.
class Tiling {
 public:
  Tiling(const Tree& tree, int level) : tree_(tree), level_(level) {}

  // Writes tables, tiles of side `patch` (0: the faster size) and flux requests, interior tiles
  // first, and uploads changes. Existing tables are rewritten only for the blocks that changed.
  void follow(int patch, const GhostPlan& needs, const FluxRequests& requests, LevelHalo& halo);

 private:
  struct Group {               // one table: a block (N >= M), or the blocks under one ancestor
    Key ancestor = k_no_key;   // key of a large block itself; k_no_key: unused
    BlockCoordinates first{};  // position of the first central block of the table
    std::vector<std::int32_t> slots;  // sorted by key
    std::vector<FluxRequest> requests;
    std::vector<int> counts;  // of requests, by tile, or by slot if there is one tile
    bool touched = false, afar = false;
    bool is_new = false;  // its whole table must be written
  };
  struct Place {  // of the block in a slot
    Key key = k_no_key;
    std::int32_t group = -1;
    std::array<std::int8_t, 3> in_group{};  // relative to the group's first central block
  };

  int faster_patch() const;
  void begin_anew(int patch, int first_need_box);
  void update_places();
  void put(int slot, Key key);
  void take(int slot);
  int group_under(Key ancestor);
  Group& touch(int group);
  int group_of(int slot) const;
  void remove_empty_groups();
  struct Lost {  // former position of a removed block
    int group;
    Key ancestor;
    std::array<int, 3> place;
  };
  void write_rows(const GhostPlan& needs, DeviceTable<std::int32_t>& tables);
  void clear_unread(const Lost& lost, const GhostPlan& needs, std::int32_t* table) const;
  bool is_read(const std::array<int, 3>& place, const GhostPlan& needs,
               const std::int32_t* table) const;
  void write_table(int number, const GhostPlan& needs, DeviceTable<std::int32_t>& tables) const;
  void write_row(int slot, Positions positions, const GhostPlan& needs, std::int32_t* table) const;
  static bool reaches_afar(const Group& group, const GhostPlan& needs);
  void write_requests(int slot, const FluxRequests& requests);
  static void replace_requests(Group& group, int part, std::span<const FluxRequest> requests);
  void add_request(const FluxRequest& request, const std::array<int, 3>& place,
                   const std::array<std::int16_t, 3>& origin,
                   std::vector<FluxRequest>& requests) const;
  void write_lists(LevelHalo& halo) const;

  bool reaches_itself(int group, int slot, const std::array<int, 3>& place) const;
  bool is_central(const std::array<int, 3>& place) const;
  std::array<int, 3> place_in_group(int slot) const;
  int table_index(const std::array<int, 3>& place) const {
    return ((place[2] + 1) * reach_ + place[1] + 1) * reach_ + place[0] + 1;
  }
  int entries() const { return reach_ * reach_ * reach_; }
  // Table of a group, for writing.
  std::int32_t* table_of(int group, DeviceTable<std::int32_t>& tables) const {
    return tables.write(static_cast<std::size_t>(group) * entries(), entries());
  }

  const Tree& tree_;
  int level_;
  int patch_ = 0, first_need_box_ = -1, block_size_ = 0, blocks_per_patch_ = 0, reach_ = 0;
  Cubes patches_{1, 1};
  std::array<int, 27> steps_;  // index offsets in a table to the 27 positions around one
  std::vector<std::array<std::int16_t, 3>> origins_;  // of the parts of a large block, in its cells
  std::vector<Place> places_;                         // by slot
  std::vector<Group> groups_;
  KeyTable<std::int32_t> index_;             // of groups, by ancestor
  std::vector<int> touched_, free_, order_;  // groups: to be written; unused; in use, by key
  std::vector<Lost> lost_;  // removed since the last update, from groups that remain
  std::vector<FluxRequest> of_block_, of_tile_;  // scratch
};

}  // namespace octant::mesh
