// The potential of an isolated mass distribution at points on and beyond the sides of the domain,
// by a tree of multipole expansions (Barnes & Hut 1986, Nature 324, 446).
//
// Nodes are cubes of 2^g base cells. A node has the Cartesian moments of its mass up to order 8
// about its centre of mass. Points are evaluated in groups. A node serves a group if the bound of
// the truncation error of its force is small against the force of the whole mass there, with the
// lowest order that does; else its eight children are looked at, and single cells in the end.
//
// Nodes are spread over the ranks: those inside of a patch of the base level belong to the patch's
// owner, larger ones to ranks by a hash of their key. A rank receives what its own groups need.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "decomp/key_table.hpp"
#include "gravity/patches.hpp"
#include "mesh/geometry.hpp"

namespace octant::gravity {

// Points of one cube in space. What serves a group follows from its cube alone.
struct PointGroup {
  std::array<double, 3> centre;
  double radius;  // of the sphere around the cube
  std::vector<std::array<double, 3>> points;
};

// Moments sum(m x^a y^b z^c), a + b + c <= order, about the centre of mass. Lengths are in base
// cells, from the domain's lower corner; masses in density times the volume of a base cell.
struct FarNode {
  static constexpr int k_order = 8;
  static constexpr int k_terms = (k_order + 1) * (k_order + 2) * (k_order + 3) / 6;

  double centre[3];
  double radius;  // largest distance of mass from the centre
  double moments[k_terms];

  double mass() const { return moments[0]; }
};

// A cube of cells of an own patch.
struct FarCube {
  std::int32_t patch;
  std::array<std::int16_t, 3> begin;
  std::array<double, 3> corner;
};

class FarField {
 public:
  // `density` is a field of the patches of the base level; it is copied. Later changes of the mesh
  // do not matter. Collective.
  FarField(const LevelPatches& patches, const mesh::Geometry& geometry,
           const DeviceArray<double>& density);

  // The potential with G = 1 at every point of every group, one group after the other. The same
  // bits on any number of ranks. Collective.
  std::vector<double> potentials(std::span<const PointGroup> groups);

  // The largest error of the force at any group so far, relative to the force of the whole mass
  // there: the sum of the bounds of all truncation errors. The same on all ranks.
  double estimated_error() const { return error_; }

 private:
  struct Pair;
  struct View;

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
  DeviceArray<const StripTable> strips_;
  DeviceArray<double> density_;
  struct Grid {
    KeyTable<std::int32_t> index;
    std::vector<FarNode> nodes;
  };
  std::vector<Grid> grids_;  // from the grid of patches on: nodes that this rank holds
  double error_ = 0.0;
};

}  // namespace octant::gravity
