// The staggered grid: uniform along x and y, stretched along z.
//
// Cells are numbered 0 .. n - 1 along each axis. Pressure and scalars live at the centres of cells,
// a velocity component at the centres of the faces normal to it; component and pressure of one
// index belong to the same cell, of which the component has the UPPER face. So face n - 1 lies on
// the upper boundary, and face -1, a ghost, on the lower one.
#pragma once

#include <array>
#include <vector>

#include "dns/flow_parameters.hpp"

namespace octant::dns {

// Values along z with one ghost on either side: k = -1 .. n.
class ZLine {
 public:
  ZLine() = default;
  explicit ZLine(int n) : values_(n + 2) {}
  double& operator[](int k) { return values_[k + 1]; }
  double operator[](int k) const { return values_[k + 1]; }
  int size() const { return static_cast<int>(values_.size()) - 2; }

  // The values first - 1 .. first + count, renumbered from -1.
  ZLine part(int first, int count) const;

 private:
  std::vector<double> values_;
};

// Positions of the faces 0 .. cells along z, from 0 to the extent. Throws InputError if a file of
// faces cannot be read, has another number of them, or does not ascend from 0 to the extent.
std::vector<double> z_faces(const GridOptions& options);

// The whole grid; every rank holds it, because only its z lines have a length.
struct Grid {
  std::array<int, 3> cells;
  Vector size;
  double dx, dy;
  ZLine face;     // position of the upper face of cell k
  ZLine centre;   // position of the centre
  ZLine dz_cell;  // height of cell k
  ZLine dz_face;  // distance between the centres of the cells k and k + 1

  // `z_periodic` decides what lies beyond the ends of z: the other end, or a mirror image. Throws
  // InputError as z_faces does, and where floating-point numbers do not resolve the lengths.
  Grid(const GridOptions& options, bool z_periodic);

  double spacing(int axis) const { return axis == 0 ? dx : dy; }  // x and y
  double volume() const { return size[0] * size[1] * size[2]; }
};

}  // namespace octant::dns
