// Coarse-level potential in and around every own patch of a level, from which ghost cells beyond
// the coarse-fine boundary and cells of new blocks are interpolated.
#pragma once

#include "gravity/far_field.hpp"
#include "gravity/patch_exchange.hpp"
#include "mesh/field_pool.hpp"

namespace octant::gravity {

// Range of the cells of a box that lie inside the domain, relative to the first cell of the box.
struct CellsInside {
  std::int32_t slot;
  std::array<std::int16_t, 3> begin, end;
};

// Part of a box that lies in an own patch of the coarser level.
struct BoxPart {
  std::int32_t patch, box;
  std::array<std::int16_t, 3> in_patch, in_box, size;

  // Number of rows along x.
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return size[1] * size[2]; }
};

// Boxes of coarse cells -2 .. T/2+1 around patches of T^3 fine cells; see CoarseBox in
// patch_scratch.hpp. Cells beyond an open boundary, and on the base level also the first layer
// inside, contain the potential of the far field (far_field.hpp). The potential of the coarser
// level is not used in these cells, because its truncation error would enter the finer level.
class CoarseBoxes {
 public:
  // `coarse` is null for the base level. Boxes use the pool, which must outlive this object.
  // Collective.
  CoarseBoxes(const LevelPatches& fine, const LevelPatches* coarse, const mesh::Geometry& geometry,
              const CommOptions& options, mesh::FieldPool& pool);

  // Points at which the far field is required, in groups.
  const std::vector<PointGroup>& far_groups() const { return groups_; }
  // True if far_groups() is not empty on any rank.
  bool need_far_field() const { return need_far_field_; }
  // Sets the potentials for G = 1 at the points of far_groups(), in their order.
  void set_far_field(const std::vector<double>& potentials);

  // Fills the boxes from a field of the coarser level's own patches, and at open boundaries with
  // the far field for Newton's constant G. If the far field is not set or G = 0, the coarser
  // level's potential is extrapolated instead, except on the base level. Collective.
  void fill(const double* coarse_phi, double G);
  // Releases the memory of the boxes until the next fill().
  void release() { boxes_ = {}; }
  const double* data() const { return boxes_.data(); }  // [own slot][doubles of a CoarseBox]

 private:
  void plan_copies(const LevelPatches& fine, const LevelPatches& coarse);
  void find_far_cells(const LevelPatches& fine);
  void copy_coarse(const double* coarse_phi);

  mesh::Geometry geometry_;
  mesh::FieldPool& pool_;
  int level_, own_, fine_side_, coarse_side_ = 0;
  int side_, row_;  // cells of a box along an axis; doubles per row
  DeviceArray<const StripTable> coarse_strips_;
  DeviceArray<const BoxPart> local_;
  std::int64_t local_cells_ = 0;        // number of cells in local_
  std::unique_ptr<ExchangePlan> plan_;  // exchange of the parts in other ranks' patches
  DeviceArray<const PatchCopy> sent_regions_, received_regions_;
  Exchanger exchanger_;
  DeviceArray<const CellsInside> inside_;
  bool base_, need_far_field_ = false;
  std::vector<PointGroup> groups_;
  DeviceArray<const std::int64_t> far_cells_;  // index in the boxes of each point of groups_
  DeviceArray<const double> far_values_;       // empty until set_far_field()
  DeviceArray<double> boxes_;
};

}  // namespace octant::gravity
