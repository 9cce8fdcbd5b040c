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

enum class Origin { remote, mirrored, interpolated };

// A block position that is not an own block, of which cells are needed.
struct Need {
  bool in_use = false;
  BlockCoordinates position{};  // inside the domain, or outside along axes that are not periodic
  bool is_outside = false;
  std::uint32_t askers = 0;  // bit n: the own block whose neighbour n this is reads its cells
  Region asked;              // what the askers read
  bool lost_asker = false;   // `asked` must be found anew
  Region region;             // that, and what mirrors and the finer level read
  bool beneath = false;  // a finer level interpolates from it, so that it must exist on this level
  Origin origin = Origin::remote;
  int owner = -1;                     // remote: the rank that sends it
  BoundaryTask mirror{};              // mirrored: how (references in target and source)
  bool scratch = false;               // lies in the scratch, not in the halo
  std::array<Reference, 7> coarse{};  // interpolated: references on the coarser level
  bool settled = false;  // interpolated: `coarse` holds for this region, and all are own blocks
  Region settled_region;
};

// The needs of one level: those of the level's own sweep, and of interpolation from the finer
// level. They follow the tree: what is near changed blocks is looked up anew, and all that lasts
// keeps its number.
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
    std::uint32_t positions;
  };
  const std::vector<Rewritten>& rewritten() const { return rewritten_; }

  // Boxes begin with those of the slots, of which there may be more than there are blocks; then
  // they may come again, as borrowed ones; then come those of the needs. The numbers of all hold
  // until `first_need_box` changes.
  int box_of(Reference r) const { return is_need(r) ? first_need_box_ + need_of(r) : r; }
  int borrowed_box_of(int slot) const { return capacity_ + slot; }
  bool may_borrow() const { return may_borrow_; }
  int first_need_box() const { return first_need_box_; }

  const Need& need(Reference r) const { return needs_[need_of(r)]; }
  const Need& need_number(int n) const { return needs_[n]; }

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
  void unsettle_near(const std::vector<Key>& changed);
  void unsettle_above(const std::vector<Key>& changed_coarse);
  void unsettle_all();
  void unsettle(const BlockCoordinates& position);
  void release(Row& row);
  void drop(Reference r, int neighbour);
  void ask(int slot);
  Region asked_by(std::uint32_t askers) const;
  void resolve_mirror(int need);
  void resolve_interpolation(int need, LevelNeeds& coarser);
  void forget(int need);
  void write_slot_boxes(LevelHalo& halo);

  const Tree& tree_;
  BlockLayout layout_;
  int level_;
  std::array<Region, 27> ghosts_;  // of the neighbours of a block, what its sweep reads
  std::uint32_t read_ = 0;         // bit n: that is something
  bool may_borrow_;
  std::vector<Row> rows_;  // by slot
  std::vector<Rewritten> rewritten_;
  KeyTable<std::int32_t> index_;
  std::vector<Need> needs_;
  std::vector<int> free_, placed_;
  std::size_t remote_ = 0, mirrored_ = 0;  // how many of the placed ones
  int capacity_ = 0, first_need_box_ = 0;
};

}  // namespace octant::mesh
