// Potential of an isolated mass distribution at points near and beyond the boundary of the domain,
// by a tree of multipole expansions (Barnes & Hut 1986, Nature 324, 446).
//
// Nodes are cubes of 2^g base cells. A node has the Cartesian moments of its mass up to order 8
// about its centre of mass. Points are evaluated in groups. A group accepts a node, at the lowest
// sufficient order, if the bound of the truncation error of the node's force is small compared to
// the force of the total mass. Otherwise its eight children are tested, and finally single cells.
//
// Nodes inside a patch of the base level belong to the owner of the patch. Larger nodes are
// distributed over ranks by a hash of their key. A rank receives the nodes that its groups require.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "decomp/key_table.hpp"
#include "gravity/patches.hpp"
#include "mesh/geometry.hpp"

namespace octant::gravity {

// Points in one cube. Which nodes a group accepts depends only on its cube.
struct PointGroup {
  std::array<double, 3> centre;
  double radius;  // radius of the sphere around the cube
  std::vector<std::array<double, 3>> points;
};

// Node with the moments sum(m x^a y^b z^c), a + b + c <= k_order, about the centre of mass. Lengths
// are in base cells, and `centre` is relative to the domain's lower corner. Masses of cells are
// densities.
struct FarNode {
  static constexpr int k_order = 8;
  static constexpr int k_terms = (k_order + 1) * (k_order + 2) * (k_order + 3) / 6;

  double centre[3];
  double radius;  // upper bound of the distance of cell centres with mass from `centre`
  double moments[k_terms];

  // Total mass.
  double mass() const { return moments[0]; }

  // Returns the parent of the given children.
  static FarNode joined(std::span<const FarNode> children);

  // Sums of m r^n, n = 0 .. k_order + 1. Sums of odd n are upper bounds.
  struct RadialSums {
    double of[k_order + 2];
  };
  // Returns the radial sums of this node.
  RadialSums radial_sums() const;

  // Adds the node's potential, up to the given order, at up to k_far_lanes points.
  void add_potentials(int order, std::span<const std::array<double, 3>> points,
                      double* potentials) const;
};
inline constexpr int k_far_lanes = 8;  // number of points that are evaluated together

// Cells of a cube of at most 4^3 cells.
struct FarCells {
  double mass[64];  // [k][j][i]

  // Adds the potential of `side`^3 cells with the lower corner `lower` to `potentials`.
  void add_potentials(int side, const std::array<double, 3>& lower,
                      std::span<const std::array<double, 3>> points, double* potentials) const;
};

// Cube of cells of an own patch.
struct FarCube {
  std::int32_t patch;
  std::array<std::int16_t, 3> begin;
  std::array<double, 3> corner;
};

// Copy of the density in own patches, from which nodes and cells of cubes are computed.
class FarDensity {
 public:
  FarDensity(const LevelPatches& patches, const DeviceArray<double>& density);
  // Returns the node of each cube of `side`^3 cells.
  std::vector<FarNode> nodes(const std::vector<FarCube>& cubes, int side) const;
  // Returns the cell masses of each cube of `side`^3 cells.
  std::vector<FarCells> cells(const std::vector<FarCube>& cubes, int side) const;

 private:
  int patch_side_;
  DeviceArray<const StripTable> strips_;
  DeviceArray<double> density_;
};

// Far field of a density: the tree, distributed over the ranks, and the potential at given points.
class FarField {
 public:
  // `density` is a field of the patches of the base level. The density is copied, so this object
  // remains valid after regridding. Collective.
  FarField(const LevelPatches& patches, const mesh::Geometry& geometry,
           const DeviceArray<double>& density);

  // Returns the potential for G = 1 at every point of every group, one group after the other. Same
  // bits on any number of ranks. Collective.
  std::vector<double> potentials(std::span<const PointGroup> groups);

  // Upper bound of the truncation error of the force at any group so far, relative to the force of
  // the total mass: the sum of the bounds of all nodes. Same on all ranks.
  double estimated_error() const { return error_; }

 private:
  struct Pair;
  struct View;

  std::vector<View> views_of(std::span<const PointGroup> groups) const;
  std::vector<Pair> add_nodes(std::vector<View>& views);
  std::vector<FarNode> nodes_at(int grid, std::span<const Key> keys) const;
  void add_cells(std::vector<View>& views, const std::vector<Pair>& leaves) const;
  void open(const Pair& pair, int grid, std::vector<Pair>& children) const;
  void build();
  void join(int grid);
  int home_of(Key key) const;
  std::vector<int> owners_of(int grid, std::span<const Key> keys) const;
  std::vector<FarNode> own_nodes(int grid, std::span<const Key> keys) const;
  std::vector<FarCube> cubes_of(int grid, std::span<const Key> keys) const;
  int find_patch(Key patch) const;
  int leaf_grid() const { return patch_grid_ < 2 ? patch_grid_ : 2; }

  Communicator communicator_;
  bool built_ = false;
  int patch_grid_ = 0, top_grid_ = 0;
  double cell_size_ = 1.0;
  std::array<double, 3> lower_{};
  std::array<double, 3> extent_{};  // in base cells
  std::vector<Key> patches_;
  PatchDirectory directory_;
  FarDensity density_;
  struct Grid {
    KeyTable<std::int32_t> index;
    std::vector<FarNode> nodes;
  };
  // nodes on this rank by grid; the first grid is that of patches
  std::vector<Grid> grids_;
  double error_ = 0.0;
};

}  // namespace octant::gravity
