// Data structures of the fast multipole method: interaction lists of the cells of a level, by the
// opening criterion, and bricks of 8^3 cells of the mesh's levels, for blocks of any size, with
// coarser levels above the mesh up to one of 4^3 cells or less.
//
// Cells at a distance n (in cells, along each axis) are near if |n| theta < 1, and close if |n|
// theta < k_close: pairs that are close but not near include the terms of highest order. Two cells
// interact at their level if their parents are near and they are not, or if both are leaves. Lists
// depend only on the parities of both cells: their octants in their parents.
//
// Every rank stores its own bricks and copies of the surrounding ones, and the ranks that own their
// parents and children. Tables are rebuilt when the mesh changes.
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

// Cells of a level lie in bricks of 8^3, by octants: [octant][K][J][I], parents' coordinates.
inline constexpr int k_side = 8, k_parents = 4, k_octet = 64;
inline constexpr int k_cells = 8 * k_octet;
// Doubles from one component to the next. A brick of doubles is a page of memory: without padding
// all components of a cell would fall into one cache set.
inline constexpr int k_stride = k_cells + 8;

// Doubles from one component to the next in a patch of sources that extends `reach` parents beyond
// a brick (see fmm_forces.cpp), padded like k_stride.
KOKKOS_FORCEINLINE_FUNCTION int patch_stride(int reach) {
  const int edge = k_parents + 2 * reach, cells = edge * edge * k_parents;
  return cells % 256 == 0 ? cells + 8 : cells;
}

inline constexpr double k_close = 1.4;

// Factor for the force between cells that share a face. Points on a lattice attract less than the
// smooth density that they represent: a sum of 1/r over all others on a cubic lattice is smaller
// than the integral by 2.8373 (the constant of Madelung and Wigner), and a force is too small by a
// third of that times the gradient. The six neighbours compensate for this with an error of fourth
// order, and as pairs of central forces. Across a coarse-fine boundary, where no factor suits both
// sides, half of the excess gives the smallest error.
inline constexpr double k_contact = 1.0 + 2.837297479480620 / 6.0;
inline constexpr double k_contact_across = 0.5 * (1.0 + k_contact);

// Far source for targets of one octant: offset from the target's to its own row in a patch (see
// fmm_forces.cpp), and the distance in cells.
struct FarSource {
  std::int32_t row;
  bool close;
  double x, y, z;
};
// Point source for targets of one octant: offset from the target's to its own index in a patch of
// masses, and its potential and force.
struct PointSource {
  std::int32_t place;
  double field[4];
};
// Near refined cell: the field of its eight children, as points of unit mass, at the origin of the
// cell.
struct NearCell {
  std::int32_t x, y, z;
  double field[8][4];
};

// Interaction lists of the cells of a brick, by octant.
struct Lists {
  int reach;  // number of parents by which sources extend beyond a brick
  int near;   // largest distance of near cells along an axis
  // Number of parent distances along x.
  int span() const { return 2 * reach + 1; }
  int edge() const { return k_parents + 2 * reach; }  // edge length of a patch, in parents

  // Far sources of targets in octant t from octant s at a parent distance dx: entries from
  // far_begin[(s * span + dx + reach) * 8 + t] on.
  DeviceArray<const FarSource> far;
  DeviceArray<const std::int32_t> far_begin;
  // Point sources of targets in octant t: entries from point_begin[t] on.
  DeviceArray<const PointSource> points;
  DeviceArray<const std::int32_t> point_begin;
  DeviceArray<const NearCell> near_cells;
  // Number of pairs per brick if all its cells are refined; and if all are leaf cells.
  std::int64_t far_pairs = 0, point_pairs = 0;
};

// Builds the lists for 0.34 <= theta <= 0.5.
Lists make_lists(double theta);

// Number of additional fields of a refined cell near leaf cells: the masses of its eight children,
// taken as points. Octants have at least four cells, so that cells refined twice are at least three
// cells away from a leaf, which is further than near cells are.
inline constexpr int k_child_fields = 8;

// Finer brick: its parent (an own brick) and the octant of it that the brick fills.
struct ChildBrick {
  std::int32_t parent, octant;
};

// Contents of a brick: octants of leaf cells and octants of refined cells; octants outside the
// domain are in neither mask.
struct BrickCells {
  std::uint8_t leaves = 0, refined = 0;
};

// Bricks of one level on this rank: own ones by key, then copies. Collective to build.
class BrickLevel : public CubeGrid {
 public:
  // Builds the bricks of a level of the mesh.
  BrickLevel(const mesh::Tree& tree, int level);
  // Builds the bricks of the next coarser level above `finer`; each belongs to the owner of its
  // lowest child.
  static BrickLevel above(BrickLevel& finer);

  // Registers this level's bricks as children of the coarser level's. Must be called once.
  void join(BrickLevel& coarser);
  // Finds the bricks around own ones, up to `reach` parents away. All children must be registered.
  void connect(int reach);

  // Contents of all bricks, by slot.
  const std::vector<BrickCells>& cells() const { return cells_; }
  // True if any rank has leaf cells at this level.
  bool has_leaves() const { return has_leaves_; }
  // True if any rank has refined cells at this level.
  bool has_refined() const { return has_refined_; }
  // Returns true if leaf cells may be near refined ones.
  bool has_coarse_fine_boundary() const { return has_leaves_ && has_refined_; }

  // Parts of own bricks of which other ranks hold copies: in parents, with their offsets in
  // messages in doubles.
  const std::vector<PatchCopy>& packs() const { return packs_; }
  // Parts of the copies on this rank, in the same form.
  const std::vector<PatchCopy>& unpacks() const { return unpacks_; }
  // exchange of these parts; items are doubles
  const ExchangePlan& copies() const { return *copies_; }

  // Slots of the own bricks that are sent to the coarser level, in the order of sending.
  const std::vector<std::int32_t>& leaving() const { return leaving_; }
  // Exchange with the coarser level; items are own bricks.
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
  int shift_ = 0;                     // bits of a brick's key beyond those of its block
  std::unique_ptr<PatchDirectory> directory_;
  std::vector<BrickCells> cells_;
  bool has_leaves_ = false, has_refined_ = false;
  std::vector<PatchCopy> packs_, unpacks_;
  std::unique_ptr<ExchangePlan> copies_, upward_;
  std::vector<std::int32_t> leaving_;
  std::vector<int> parent_owners_;
  std::vector<ChildBrick> children_;
};

// Returns true if a level above the mesh is the last one: at most four cells along each axis.
bool is_top(const mesh::Geometry& geometry, int level);

}  // namespace octant::gravity::fmm
