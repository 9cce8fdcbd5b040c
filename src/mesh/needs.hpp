// Which cells beyond a rank's own blocks one level needs, and the kind of place that they come
// from. A tool of the halo's builder.
#pragma once

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

struct Need {
  BlockCoordinates position;  // inside the domain, or outside along axes that are not periodic
  Region region;
  bool beneath = false;  // a finer level interpolates from it, so that it must exist on this level
  Origin origin = Origin::remote;
  int owner = -1;                     // remote: the rank that sends it
  BoundaryTask mirror{};              // mirrored: how (references in target and source)
  bool scratch = false;               // lies in the scratch, not in the halo
  std::array<Reference, 7> coarse{};  // interpolated: references on the coarser level
  int box = -1;                       // index of its box, once placed
};

// The needs of one level. Filled by the level's own sweep and by interpolation from the finer
// level, then resolved, then placed.
class LevelNeeds {
 public:
  LevelNeeds(const Tree& tree, int level) : tree_(tree), level_(level) {}

  // States that cells at a block position are needed; periodic axes are wrapped. Returns the
  // holder.
  Reference require(BlockCoordinates position, const Region& region, bool beneath = false);

  // The holder of a position, or k_nowhere if nothing there is needed.
  Reference find(BlockCoordinates position) const;

  // Follows mirrors to their sources, tells other ranks' blocks from places that are interpolated,
  // and states what interpolation needs of the coarser level (nullptr for the base level).
  void resolve(LevelNeeds* coarser);

  // Orders the needs (received ones by owner and key, then the rest of the halo, then scratch) and
  // gives each its box. Boxes begin with those of the slots.
  void place(const BlockLayout& layout, std::vector<CellBox>& boxes, LevelHalo& halo);

  int box_of(Reference r) const { return is_need(r) ? needs_[need_of(r)].box : r; }
  const Need& need(Reference r) const { return needs_[need_of(r)]; }
  const std::vector<Need>& needs() const { return needs_; }   // in order of requirement
  const std::vector<int>& placed() const { return placed_; }  // indices in the order of boxes

  // Whether the data of a holder comes, directly or through a mirror, from another rank.
  bool comes_from_afar(Reference r) const;

 private:
  void resolve_mirror(int need);
  void resolve_interpolation(int need, LevelNeeds& coarser);

  const Tree& tree_;
  int level_;
  KeyTable<std::int32_t> index_;
  std::vector<Need> needs_;
  std::vector<int> placed_;
};

}  // namespace octant::mesh
