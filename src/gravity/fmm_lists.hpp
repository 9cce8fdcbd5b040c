// Which cells of a level meet at that level, and how: by the opening criterion of the fast
// multipole method.
//
// Cells n apart (in cells, along each axis) are near if |n| theta < 1, and close if that is below
// k_close: pairs that are close but not near have the terms of highest order. Two cells meet at
// their level if their parents are near and they are not, or if both are leaves. Lists depend on
// the parities of both cells alone: their octants in their parents.
#pragma once

#include "mesh/device.hpp"

namespace octant::gravity::fmm {

using mesh::DeviceArray;

// Cells of a level lie in bricks of 8^3, by octants: [octant][K][J][I] of their parents.
inline constexpr int k_side = 8, k_parents = 4, k_octet = 64;
inline constexpr int k_cells = 8 * k_octet;
// Doubles from one component to the next. A brick of doubles is a page of memory: without the pad
// all components of a cell fall into one set of the cache.
inline constexpr int k_stride = k_cells + 8;

// The same in a patch of sources that goes so many parents beyond a brick (see fmm_forces.cpp).
KOKKOS_FORCEINLINE_FUNCTION int patch_stride(int reach) {
  const int edge = k_parents + 2 * reach, cells = edge * edge * k_parents;
  return cells % 256 == 0 ? cells + 8 : cells;
}

inline constexpr double k_close = 1.4;

// How many times as much as points cells attract each other that share a face. Points on a lattice
// attract less than the smooth density that they stand for: a sum of 1/r over all others on a cubic
// lattice lacks 2.8373 of the integral (the constant of Madelung and Wigner), and a force lacks a
// third of that times the gradient. The six neighbours make that good, with an error of fourth
// order, and still as pairs that pull along the line between them. Across a level jump, where no
// factor suits both sides, half of the excess errs least.
inline constexpr double k_contact = 1.0 + 2.837297479480620 / 6.0;
inline constexpr double k_contact_across = 0.5 * (1.0 + k_contact);

// A source that targets of one octant meet: its row in a patch (see fmm_kernels.cpp), relative to
// theirs, and the way there in cells.
struct FarSource {
  std::int32_t row;
  bool close;
  double x, y, z;
};
// A point that they meet: its place in a patch of masses, relative to theirs, and its potential and
// force.
struct PointSource {
  std::int32_t place;
  double field[4];
};
// A near cell, and what its eight children, as points, do to a point at the cell's origin.
struct NearCell {
  std::int32_t x, y, z;
  double field[8][4];
};

struct Lists {
  int reach;  // parents that sources lie beyond a brick
  int near;   // cells that near ones lie apart, along an axis
  int span() const { return 2 * reach + 1; }
  int edge() const { return k_parents + 2 * reach; }  // of a patch, in parents

  // Of targets in octant t, sources in octant s whose parents lie dx apart: far sources
  // far_begin[(s * span + dx + reach) * 8 + t] and on.
  DeviceArray<const FarSource> far;
  DeviceArray<const std::int32_t> far_begin;
  // Of targets in octant t, all points: from point_begin[t].
  DeviceArray<const PointSource> points;
  DeviceArray<const std::int32_t> point_begin;
  DeviceArray<const NearCell> near_cells;
  // Pairs per brick, were all cells there: of refined cells, and of points.
  std::int64_t far_pairs = 0, point_pairs = 0;
};

// For 0.34 <= theta <= 0.5.
Lists make_lists(double theta);

}  // namespace octant::gravity::fmm
