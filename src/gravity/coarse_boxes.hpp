// The coarser level's potential beneath and around every own patch of a level: what ghost cells
// beyond the level, and cells of new blocks, are interpolated from.
#pragma once

#include "gravity/far_field.hpp"
#include "gravity/halo_exchange.hpp"
#include "mesh/field_pool.hpp"

namespace octant::gravity {

// A box that reaches beyond the domain, and which of its cells, counted from the first, do not.
struct CellsInside {
  std::int32_t slot;
  std::array<std::int16_t, 3> begin, end;
};

// A part of a box that lies in an own patch of the coarser level.
struct BoxPart {
  std::int32_t patch, box;
  std::array<std::int16_t, 3> in_patch, in_box, size;
};

// Boxes of coarse cells -2 .. T/2+1 around patches of T^3 fine cells; see CoarseBox in
// patch_scratch.hpp. Cells beyond an open side of the domain hold values from the potential of the
// far field (far_field.hpp); on the base level cells in the first layer inside do, too. The coarser
// level's potential differs from it beside the boundary by that level's truncation error, which
// finer cells must not take over.
class CoarseBoxes {
 public:
  // `coarse` is null for the base level. Boxes come from the pool, which must outlive this.
  // Collective.
  CoarseBoxes(const LevelPatches& fine, const LevelPatches* coarse, const mesh::Geometry& geometry,
              const CommOptions& options, mesh::FieldPool& pool);

  // The points at which the far field must be known, and its potentials there with G = 1, in the
  // order of the points. Whether any rank has such points.
  const std::vector<PointGroup>& far_groups() const { return groups_; }
  bool need_far_field() const { return need_far_field_; }
  void set_far_field(const std::vector<double>& potentials);

  // Fills the boxes from a field of the coarser level's own patches, and beyond open sides with
  // the far field for Newton's constant G. Until the far field is set, and with G = 0, the
  // coarser level's potential itself is extrapolated (not on the base level). Collective.
  void fill(const double* coarse_phi, double G);
  void release() { boxes_ = {}; }
  const double* data() const { return boxes_.data(); }  // [own slot][doubles of a CoarseBox]

 private:
  void plan_copies(const LevelPatches& fine, const LevelPatches& coarse);
  void find_far_cells(const LevelPatches& fine);
  void copy_coarse(const double* coarse_phi);

  mesh::Geometry geometry_;
  mesh::FieldPool& pool_;
  int level_, own_, fine_side_, coarse_side_ = 0;
  int side_, row_;  // of a box
  DeviceArray<const StripTable> coarse_strips_;
  DeviceArray<const BoxPart> local_;
  std::int64_t local_cells_ = 0;        // of these
  std::unique_ptr<ExchangePlan> plan_;  // of what lies in other ranks' patches
  DeviceArray<const PatchCopy> packs_, unpacks_;
  Exchanger exchanger_;
  DeviceArray<const CellsInside> inside_;
  bool base_, need_far_field_ = false;
  std::vector<PointGroup> groups_;
  DeviceArray<const std::int64_t> far_cells_;  // of the boxes, in the order of the points
  DeviceArray<const double> far_values_;       // empty until they are set
  DeviceArray<double> boxes_;
};

}  // namespace octant::gravity
