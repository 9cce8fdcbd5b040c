// Which cells beyond a rank's own blocks one level needs, and the kind of place that they come
// from. A tool of the halos.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/halo.hpp"

namespace octant::mesh {

// Names the holder of a block position: an own slot (>= 0), nobody (k_nowhere), or need n of the
// level's table, encoded below -1.
using Reference = std::int32_t;
inline constexpr Reference k_nowhere = -1;
constexpr Reference reference_to_need(int need) { return -2 - need; }
constexpr bool is_need(Reference r) { return r <= -2; }
constexpr int need_of(Reference r) { return -2 - r; }

enum class Origin : std::uint8_t { remote, mirrored, interpolated };

// A block position that is not an own block, of which cells are needed.
struct Need {
  BlockCoordinates position{};  // inside the domain, or outside along axes that are not periodic
  Positions askers = 0;         // bit n: the own block whose neighbour n this is reads its cells
  Region region;                // what they read, and what mirrors and the finer level do
  bool is_outside = false;
  bool is_changed = false;   // it has other askers
  bool is_open = false;      // it is resolved anew this time
  bool is_required = false;  // not by askers alone
  bool beneath = false;  // a finer level interpolates from it, so that it must exist on this level
  Origin origin = Origin::remote;
  bool scratch = false;               // lies in the scratch, not in the halo
  std::int32_t owner = -1;            // remote: the rank that sends it
  std::array<Reference, 7> coarse{};  // interpolated: references on the coarser level
};

// The needs of one level: those of the level's own sweep, and of interpolation from the finer
// level. They follow the tree: what is near changed blocks is looked up anew, and all that lasts
// keeps its number. A place that is interpolated from own blocks is settled, until something
// changes there, at the coarse block beneath it, or across that block's faces.
class LevelNeeds {
 public:
  LevelNeeds(const Tree& tree, const BlockLayout& layout, const GhostShape& ghosts, int level);

  // Takes up the tree's changes, of this level and of the coarser one.
  void follow();

  // Follows mirrors to their sources, tells other ranks' blocks from places that are interpolated,
  // and states what interpolation needs of the coarser level (nullptr for the base level). Of all
  // levels, the finest first, when all have followed.
  void resolve(LevelNeeds* coarser);

  // Orders the needs (received ones by owner and key, then the rest of the halo, then scratch) and
  // writes the boxes of slots and needs.
  void place(LevelHalo& halo);

  // By own block, the holders of the 27 positions around it that its sweep reads.
  const std::array<Reference, 27>& around(int slot) const { return rows_[slot].around; }
  // The slots in use for which that is new or changed when it followed last, and at which of the
  // positions (as bits).
  struct Rewritten {
    std::int32_t slot;
    Positions positions;
  };
  const std::vector<Rewritten>& rewritten() const { return rewritten_; }
  Positions read_positions() const { return read_; }  // those that a sweep reads

  // Boxes begin with those of the slots, of which there may be more than there are blocks; then
  // they may come again, as borrowed ones; then come those of the needs. The numbers of all hold
  // until `first_need_box` changes.
  int box_of(Reference r) const { return is_need(r) ? first_need_box_ + need_of(r) : r; }
  int borrowed_box_of(int slot) const { return capacity_ + slot; }
  bool is_box_of_slot(int box) const { return box >= 0 && box < capacity_; }
  bool may_borrow() const { return may_borrow_; }
  int first_need_box() const { return first_need_box_; }

  const Need& need(Reference r) const { return needs_[need_of(r)]; }
  const Need& need_number(int n) const { return needs_[n]; }
  // Of a mirrored one, with references in target and source.
  const BoundaryTask& mirror(int n) const { return mirrors_[n]; }

  // Numbers of needs, in their order, by origin.
  std::span<const int> remote() const { return std::span(placed_).first(remote_); }
  std::span<const int> mirrored() const { return std::span(placed_).subspan(remote_, mirrored_); }
  std::span<const int> interpolated() const {
    return std::span(placed_).subspan(remote_ + mirrored_);
  }

  // Whether the data of a holder comes, directly or through a mirror, from another rank.
  bool comes_from_afar(Reference r) const;

 private:
  struct Row {
    Key key = k_no_key;  // of the block whose neighbours these are
    std::array<Reference, 27> around;
  };

  Reference require(BlockCoordinates position, const Region& region, bool beneath);
  Reference number_of(const BlockCoordinates& position);
  void release(Row& row);
  Need& change(Reference r);
  void drop(Reference r, int neighbour);
  void ask(int slot, Positions positions);
  Region asked_by(Positions askers) const;
  bool is_changed_beneath(std::int32_t coarse_slot) const;
  void open(int need);
  void find_holder(int need, LevelNeeds* coarser);
  void resolve_mirror(int need);
  void interpolate(int need, LevelNeeds& coarser);
  void forget(int need);
  void write_slot_boxes(LevelHalo& halo);

  const Tree& tree_;
  BlockLayout layout_;
  int level_;
  std::array<Region, 27> ghosts_;  // of the neighbours of a block, what its sweep reads
  Positions read_ = 0;             // where that is something
  bool may_borrow_;
  std::vector<Row> rows_;  // by slot
  std::vector<Rewritten> rewritten_;
  KeyTable<std::int32_t> index_;
  std::vector<Need> needs_;
  // By need: of a settled one the slot of the coarse block beneath it; else one of these.
  static constexpr std::int32_t k_unsettled = -1, k_unused = -2;
  std::vector<std::int32_t> settled_;
  std::vector<BoundaryTask> mirrors_;  // by need, where there are any
  std::vector<int> changed_, open_, free_, placed_;
  std::size_t remote_ = 0, mirrored_ = 0;  // how many of the placed ones
  int capacity_ = 0, first_need_box_ = 0;
};

}  // namespace octant::mesh
