// Divergence-preserving prolongation of one coarse cell to its 2^3 children (Tóth & Roe 2002, J.
// Comput. Phys. 180, 736).
//
// Fine faces on a coarse face take the coarse value plus its slopes along the face, so that their
// mean is the coarse value. With the 24 outer fine faces b_d(s) given, s in {-1, 1}^3 and s_d the
// side of the cell, the 12 inner faces of component d at (s_e, s_f) are
//   b_d = (b_d(s_d = -1) + b_d(s_d = 1)) / 2 + Q_d + s_f M_e + s_e M_f
//   Q_d = sum_s s_d (s_e b_e(s) + s_f b_f(s)) / 8,   M_e = sum_s s_x s_y s_z b_e(s) / 16
// for cubic cells. Every child then has the divergence that the outer faces give the coarse cell,
// whatever the outer values are: values of existing fine faces can be kept (Balsara 2001, J.
// Comput. Phys. 174, 614).
#pragma once

#include "mesh/interpolation.hpp"
#include "mesh/staggered_field.hpp"

namespace octant::mesh {

// Slopes along coarse faces. Both are exact for linear fields; minmod creates no new extrema.
enum class FaceSlope { central, minmod };
constexpr auto names_of(FaceSlope) { return std::array{"central", "minmod"}; }

// The two axes along a face with normal `axis`, ascending.
KOKKOS_FORCEINLINE_FUNCTION constexpr int first_transverse(int axis) { return axis == 0 ? 1 : 0; }
KOKKOS_FORCEINLINE_FUNCTION constexpr int second_transverse(int axis) { return axis == 2 ? 1 : 2; }

// The fine faces of a coarse cell. Indices a and b are along the first and second transverse axis.
struct RefinedCell {
  double outer[3][2][2][2];  // [normal][side][b][a]
  double inner[3][2][2];     // [normal][b][a]

  // The outer value of component `d` at the corner (x, y, z) of the cell, each 0 or 1.
  KOKKOS_FORCEINLINE_FUNCTION double at_corner(int d, const int (&corner)[3]) const {
    return outer[d][corner[d]][corner[second_transverse(d)]][corner[first_transverse(d)]];
  }

  KOKKOS_INLINE_FUNCTION void fill_inner() {
    double quadratic[3] = {}, mixed[3] = {};
    for (int n = 0; n < 8; ++n) {
      const int corner[3] = {n & 1, n >> 1 & 1, n >> 2 & 1};
      const int sign[3] = {2 * corner[0] - 1, 2 * corner[1] - 1, 2 * corner[2] - 1};
      for (int e = 0; e < 3; ++e) {
        const double value = at_corner(e, corner);
        for (int d = 0; d < 3; ++d)
          if (d != e) quadratic[d] += 0.125 * (sign[d] * sign[e]) * value;
        mixed[e] += 0.0625 * (sign[0] * sign[1] * sign[2]) * value;
      }
    }
    for (int d = 0; d < 3; ++d)
      for (int b = 0; b < 2; ++b)
        for (int a = 0; a < 2; ++a)
          inner[d][b][a] = 0.5 * (outer[d][0][b][a] + outer[d][1][b][a]) + quadratic[d] +
                           (2 * b - 1) * mixed[first_transverse(d)] +
                           (2 * a - 1) * mixed[second_transverse(d)];
  }
};

KOKKOS_FORCEINLINE_FUNCTION double face_slope(FaceSlope slope, double below, double value,
                                              double above) {
  return slope == FaceSlope::minmod ? minmod(value - below, above - value) : 0.5 * (above - below);
}

// The four fine faces on the coarse face of component `d` at `point`, [b][a].
KOKKOS_INLINE_FUNCTION void refine_face(const StaggeredView& coarse, int slot, int d,
                                        const int (&point)[3], FaceSlope slope,
                                        double (&fine)[2][2]) {
  const double value = coarse(slot, d, point);
  double quarter[2];
  for (int t = 0; t < 2; ++t) {
    const int axis = t == 0 ? first_transverse(d) : second_transverse(d);
    int below[3] = {point[0], point[1], point[2]}, above[3] = {point[0], point[1], point[2]};
    --below[axis];
    ++above[axis];
    quarter[t] = 0.25 * face_slope(slope, coarse(slot, d, below), value, coarse(slot, d, above));
  }
  for (int b = 0; b < 2; ++b)
    for (int a = 0; a < 2; ++a)
      fine[b][a] = (value + (2 * a - 1) * quarter[0]) + (2 * b - 1) * quarter[1];
}

}  // namespace octant::mesh
