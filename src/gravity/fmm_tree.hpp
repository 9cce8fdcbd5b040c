// Data structures of the fast multipole method: interaction lists of the cells of a level, by the
// opening criterion, and bricks of 8^3 cells of the mesh's levels, for blocks of any size, with
// coarser levels above the mesh up to one of 4^3 cells or less.
//
// Cells at a distance n (in cells, along each axis) are near if |n| theta < 1, and close if |n|
// theta < k_close: pairs that are close but not near include the terms of highest order. Two cells
// interact at their level if their parents are near and they are not, or if both are leaves. Lists
// depend only on the parities of both cells: their octants in their parents.
//
// Every rank holds its own bricks, copies of those around them, and the ranks of their parents and
// children. Tables are rebuilt when the mesh changes.
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

// Same for a patch of sources that extends `reach` parents beyond a brick (see fmm_forces.cpp).
KOKKOS_FORCEINLINE_FUNCTION int patch_stride(int reach) {
  const int edge = k_parents + 2 * reach, cells = edge * edge * k_parents;
  return cells % 256 == 0 ? cells + 8 : cells;
}

inline constexpr double k_close = 1.4;

// Enhancement of the force between cells that share a face. Points on a lattice attract less than
// the smooth density that they represent: a sum of 1/r over all others on a cubic lattice lacks
// 2.8373 of the integral (the constant of Madelung and Wigner), and a force lacks a third of that
// times the gradient. The six neighbours compensate for this with an error of fourth order, and as
// pairs of central forces. Across a coarse-fine boundary, where no factor suits both sides, half of
// the excess gives the smallest error.
inline constexpr double k_contact = 1.0 + 2.837297479480620 / 6.0;
inline constexpr double k_contact_across = 0.5 * (1.0 + k_contact);

// Source for targets of one octant: its row in a patch (see fmm_forces.cpp) relative to theirs, and
// its distance in cells.
struct FarSource {
  std::int32_t row;
  bool close;
  double x, y, z;
};
// Point source for these targets: its index in a patch of masses relative to theirs, and its
// potential and force.
struct PointSource {
  std::int32_t place;
  double field[4];
};
// Near cell, with the field of its eight children, as points of unit mass, at the cell's origin.
struct NearCell {
  std::int32_t x, y, z;
  double field[8][4];
};

struct Lists {
  int reach;  // parents by which sources extend beyond a brick
  int near;   // largest distance of near cells along an axis
  int span() const { return 2 * reach + 1; }
  int edge() const { return k_parents + 2 * reach; }  // edge of a patch, in parents

  // Far sources of targets in octant t from octant s at a parent distance dx: entries from
  // far_begin[(s * span + dx + reach) * 8 + t] on.
  DeviceArray<const FarSource> far;
  DeviceArray<const std::int32_t> far_begin;
  // Point sources of targets in octant t: entries from point_begin[t] on.
  DeviceArray<const PointSource> points;
  DeviceArray<const std::int32_t> point_begin;
  DeviceArray<const NearCell> near_cells;
  // Pairs per brick if all its cells are refined, and if all are points.
  std::int64_t far_pairs = 0, point_pairs = 0;
};

// Builds the lists for 0.34 <= theta <= 0.5.
Lists make_lists(double theta);

// Additional fields of a refined cell near leaf cells: the masses of its eight children, taken as
// points. Octants of four cells and more keep cells that are refined twice three cells away from a
// leaf, which is further than near cells are.
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
  // Builds the bricks above those of a level; each belongs to the owner of its lowest child.
  static BrickLevel above(BrickLevel& finer);

  // Registers this finer level's bricks with the coarser one. Must be called once.
  void join(BrickLevel& coarser);
  // Finds the bricks around own ones, `reach` parents away, once all children are known.
  void connect(int reach);

  const std::vector<BrickCells>& cells() const { return cells_; }
  // Flags that hold if any rank has such cells.
  bool has_leaves() const { return has_leaves_; }
  bool has_refined() const { return has_refined_; }
  // Returns true if leaf cells may be near refined ones.
  bool has_jumps() const { return has_leaves_ && has_refined_; }

  // Parts of bricks of which other ranks hold copies, and of the copies here: in parents, with
  // their offsets in messages in doubles.
  const std::vector<PatchCopy>& packs() const { return packs_; }
  const std::vector<PatchCopy>& unpacks() const { return unpacks_; }
  const ExchangePlan& copies() const { return *copies_; }  // exchange of doubles

  // Exchange with the coarser level, with own bricks as items: their slots in the order of sending,
  // and the bricks that arrive from the finer level.
  const std::vector<std::int32_t>& leaving() const { return leaving_; }
  const ExchangePlan& upward() const { return *upward_; }
  const std::vector<ChildBrick>& children() const { return children_; }

  // Number of doubles per octet of a copied parent.
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
