// Data structures of the fast multipole method: interaction lists of the cells of a level from the
// opening criterion, and bricks of 8^3 cells for the levels of the mesh, with any block size, and
// for coarser levels above the mesh up to a level of at most 4^3 cells.
//
// Two cells at a distance vector n, in cells, are near if |n| theta < 1, and close if |n| theta <
// k_close. Close pairs that are not near include the terms of highest order. Two cells interact at
// their level if their parents are near and they are not, or if both are leaf cells. Lists depend
// only on the octants of both cells in their parents.
//
// Every rank stores its own bricks, copies of the surrounding ones, and the ranks that own parents
// and children. Tables are rebuilt after regridding.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/exchanger.hpp"
#include "gravity/fmm_arithmetic.hpp"
#include "gravity/patches.hpp"
#include "mesh/device.hpp"

namespace octant::gravity::fmm {

using mesh::DeviceArray;

// Cells of a level are stored in bricks of 8^3, [octant][K][J][I], with the coordinates of parents.
inline constexpr int k_side = 8, k_parents = 4, k_octet = 64;
inline constexpr int k_cells = 8 * k_octet;
// Doubles from one component to the next. A brick of doubles is one page of memory, so without
// padding all components of a cell would fall into one cache set.
inline constexpr int k_stride = k_cells + 8;

// Doubles from one component to the next in a patch of sources that extends `reach` parents beyond
// a brick (see fmm_forces.cpp), padded like k_stride.
KOKKOS_FORCEINLINE_FUNCTION int patch_stride(int reach) {
  const int edge = k_parents + 2 * reach, cells = edge * edge * k_parents;
  return cells % 256 == 0 ? cells + 8 : cells;
}

inline constexpr double k_close = 1.4;

// Factor for the force between cells that share a face. Points on a lattice attract less than the
// smooth density that they represent: the sum of 1/r over all other points of a cubic lattice is
// smaller than the integral by 2.8373 (the constant of Madelung and Wigner), and the force is too
// small by a third of that times the density gradient. The factor compensates for this to fourth
// order and keeps forces central. Across a coarse-fine boundary, where no factor is exact for both
// sides, half of the excess gives the smallest error.
inline constexpr double k_contact = 1.0 + 2.837297479480620 / 6.0;
inline constexpr double k_contact_across = 0.5 * (1.0 + k_contact);

// Far source for targets of one octant: offset from the row of the target to that of the source in
// a patch (see fmm_forces.cpp), and the distance vector in cells.
struct FarSource {
  std::int32_t row;
  bool close;
  double x, y, z;
};
// Point source for targets of one octant: offset from the index of the target to that of the source
// in a patch of masses, and potential and force of a unit mass.
struct PointSource {
  std::int32_t place;
  double field[4];
};
// Near refined cell at a distance (x, y, z) from a leaf cell: potential and force of each of its
// eight children, as points of unit mass, at the leaf cell.
struct NearCell {
  std::int32_t x, y, z;
  double field[8][4];
};

// Interaction lists of the cells of a brick, by octant.
struct Lists {
  int reach;  // number of parents by which sources extend beyond a brick
  int near;   // maximum distance of near cells along an axis
  // Number of values of dx, the distance of parents along x.
  int span() const { return 2 * reach + 1; }
  int edge() const { return k_parents + 2 * reach; }  // edge length of a patch, in parents

  // Far sources in octant s for targets in octant t at a distance dx of the parents: entries from
  // far_begin[(s * span + dx + reach) * 8 + t] on.
  DeviceArray<const FarSource> far;
  DeviceArray<const std::int32_t> far_begin;
  // Point sources for targets in octant t: entries from point_begin[t] on.
  DeviceArray<const PointSource> points;
  DeviceArray<const std::int32_t> point_begin;
  DeviceArray<const NearCell> near_cells;
  // Number of pairs per brick if all cells are refined (far_pairs), or leaf cells (point_pairs).
  std::int64_t far_pairs = 0, point_pairs = 0;
};

// Builds the lists for 0.34 <= theta <= 0.5.
Lists make_lists(double theta);

// Number of additional fields of a refined cell near leaf cells: the masses of its eight children
// as points. Octants have at least four cells per edge, so cells that are refined twice are at
// least three cells away from a leaf cell and not near.
inline constexpr int k_child_fields = 8;

// Finer brick: slot of the parent, an own brick, and octant of the parent that the brick fills.
struct ChildBrick {
  std::int32_t parent, octant;
};

// Contents of a brick: masks of the octants of leaf cells and of refined cells. Octants outside the
// domain are in neither mask.
struct BrickCells {
  std::uint8_t leaves = 0, refined = 0;
};

// Bricks of one level on this rank: own bricks by key, then copies. The constructors and functions
// that build the level are collective.
class BrickLevel : public CubeGrid {
 public:
  // Builds the bricks of a level of the mesh.
  BrickLevel(const mesh::Tree& tree, int level);
  // Builds the bricks of the next coarser level. Each belongs to the owner of its lowest child.
  static BrickLevel above(BrickLevel& finer);

  // Registers the bricks of this level as children of the coarser bricks. Must be called once.
  void join(BrickLevel& coarser);
  // Finds the bricks up to `reach` parents around own bricks. All children must be registered.
  void connect(int reach);

  // Contents of all bricks, by slot.
  const std::vector<BrickCells>& cells() const { return cells_; }
  // True if any rank has leaf cells at this level.
  bool has_leaves() const { return has_leaves_; }
  // True if any rank has refined cells at this level.
  bool has_refined() const { return has_refined_; }
  // True if the level has leaf cells and refined cells, which may be near each other.
  bool has_coarse_fine_boundary() const { return has_leaves_ && has_refined_; }

  // Regions of own bricks, in units of parent cells, that are sent to other ranks. Offsets in
  // messages count doubles.
  const std::vector<PatchCopy>& sent_regions() const { return sent_regions_; }
  // Regions of the copies on this rank that are received, in the units of sent_regions().
  const std::vector<PatchCopy>& received_regions() const { return received_regions_; }
  // Exchange of sent_regions() and received_regions(). Items are doubles.
  const ExchangePlan& copies() const { return *copies_; }

  // Slots of the own bricks that are sent to the coarser level, in the order of sending.
  const std::vector<std::int32_t>& leaving() const { return leaving_; }
  // Exchange with the coarser level. Items are own bricks.
  const ExchangePlan& upward() const { return *upward_; }
  // Bricks that arrive from the finer level.
  const std::vector<ChildBrick>& children() const { return children_; }

  // Number of doubles per octet of a copied parent with these contents.
  std::int64_t shared_doubles(BrickCells cells) const;

 private:
  BrickLevel(const Communicator& communicator, int level) : CubeGrid(communicator, level) {}
  std::vector<PatchFacts> facts_of(const std::vector<Key>& keys) const;
  std::vector<PatchCopy> plan_copies(const std::vector<SharedPatch>& shared, int reach,
                                     std::vector<Segment>& segments) const;

  const mesh::Tree* tree_ = nullptr;  // null above the mesh
  int shift_ = 0;                     // number of bits of a brick's key below those of its block
  std::unique_ptr<PatchDirectory> directory_;
  std::vector<BrickCells> cells_;
  bool has_leaves_ = false, has_refined_ = false;
  std::vector<PatchCopy> sent_regions_, received_regions_;
  std::unique_ptr<ExchangePlan> copies_, upward_;
  std::vector<std::int32_t> leaving_;
  std::vector<int> parent_owners_;
  std::vector<ChildBrick> children_;
};

// Returns true if a level above the mesh is the last one: at most four cells along each axis.
bool is_top(const mesh::Geometry& geometry, int level);

}  // namespace octant::gravity::fmm
