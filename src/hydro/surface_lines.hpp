// Parabolas along the 13 lines through a cell and its neighbours, whose ends are the 26 points on
// the surface of the cell: centres of faces, centres of edges, and vertices.
#pragma once

#include "core/compiler.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

// Number of points, and number of the centre among them: (x + 1) + 3 (y + 1) + 9 (z + 1) with x, y
// and z of -1, 0 or 1, half a cell from the centre. Lines lead to the points after the centre and
// to their opposites.
constexpr int k_points = 27, k_centre = 13;

// Offset to one of the 26 neighbours: components are -1, 0 or 1.
struct Direction {
  int x, y, z;
};
// Returns the offset of a point from the centre.
KOKKOS_FORCEINLINE_FUNCTION constexpr Direction direction(int point) {
  return {point % 3 - 1, point / 3 % 3 - 1, point / 9 - 1};
}
// Returns true for directions to the centres of faces.
KOKKOS_FORCEINLINE_FUNCTION constexpr bool is_on_axis(const Direction& d) {
  return d.x * d.x + d.y * d.y + d.z * d.z == 1;
}
// Returns the point on the other side of the centre.
KOKKOS_FORCEINLINE_FUNCTION constexpr int opposite(int point) { return 2 * k_centre - point; }
// Returns the difference of point numbers along an axis.
KOKKOS_FORCEINLINE_FUNCTION constexpr int step_along(int axis) {
  return axis == 0 ? 1 : axis == 1 ? 3 : 9;
}

// Monotone parabola along a line of cells (Colella & Woodward 1984). All arguments and results are
// deviations, i.e. means or values minus the mean of the cell in the middle.
struct MonotoneParabola {
  // Values at the ends, where the parabolas of two cells agree (eqs. 1.6-1.8).
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> ends(const V& left2, const V& left, const V& right,
                                                   const V& right2) {
    const V below = -left;
    const V slope_left = double_slope(V(left - left2), below);
    const V slope = double_slope(below, right);
    const V slope_right = double_slope(right, V(right2 - right));
    return {fused_multiply_add(V(0.5), left, V(1.0 / 12.0) * (slope_left - slope)),
            fused_multiply_add(V(0.5), right, V(1.0 / 12.0) * (slope - slope_right))};
  }
  // Values at the ends of the monotone parabola (eq. 1.10).
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> limited(const Faces<V>& ends) {
    return {minmod(ends.lower, V(V(-2.0) * ends.upper)),
            minmod(ends.upper, V(V(-2.0) * ends.lower))};
  }

 private:
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V minmod(const V& a, const V& b) {
    return max(min(a, max(b, V(0.0))), min(b, V(0.0)));
  }
  // Twice the slope of the monotonised central limiter, from the one-sided differences.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V double_slope(const V& a, const V& b) {
    const V least = V(4.0) * min(max(a, b), V(0.0)), most = V(4.0) * max(min(a, b), V(0.0));
    return max(min(a + b, most), least);
  }
};

// Reconstruction at the 26 points. With KeepsExtrema, lines along the axes keep smooth extrema, and
// only these lines are steepened at contacts. Otherwise, all 13 lines are monotone and steepened:
// the states of Octo-Tiger (Marcello et al. 2021).
template <bool KeepsExtrema>
struct SurfaceLines {
  // Computes the deviations, i.e. the reconstructed value at each surface point minus the mean of
  // the cell. q(x, y, z) is the mean of the cell at offset (x, y, z). `inside` is
  // std::true_type, or std::false_type to set only the points on the lower and upper z faces.
  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static void deviations(auto inside, const Values& q,
                                                     V (&deviation)[k_points]) {
    const V centre = q(0, 0, 0);
    OCTANT_UNROLL(13)
    for (int p = k_centre + 1; p < k_points; ++p) {
      const Direction d = direction(p);
      if (!inside && d.z == 0) continue;
      const auto difference = [&](int o) OCTANT_INLINE_LAMBDA {
        return V(q(o * d.x, o * d.y, o * d.z) - centre);
      };
      const V left2 = difference(-2), left = difference(-1);
      const V right = difference(1), right2 = difference(2);
      const Faces<V> ends =
          KeepsExtrema && is_on_axis(d)
              ? ParabolicFaces::deviations(left2, left, right, right2)
              : MonotoneParabola::limited(MonotoneParabola::ends(left2, left, right, right2));
      deviation[p] = ends.upper, deviation[opposite(p)] = ends.lower;
    }
  }

  // Steepens the deviations of the density at contacts. cell(n, x, y, z) is primitive variable n.
  template <class V, class Cell>
  KOKKOS_FORCEINLINE_FUNCTION static void steepen(auto inside, const Cell& cell, double gamma,
                                                  V (&deviation)[k_points]) {
    OCTANT_UNROLL(13)
    for (int p = k_centre + 1; p < k_points; ++p) {
      const Direction d = direction(p);
      if ((KeepsExtrema && !is_on_axis(d)) || (!inside && d.z == 0)) continue;
      const auto line = [&](int n, int o)
                            OCTANT_INLINE_LAMBDA { return cell(n, o * d.x, o * d.y, o * d.z); };
      Faces<V> ends{deviation[opposite(p)], deviation[p]};
      if constexpr (KeepsExtrema) {
        ends = steepened<V>(ends, line, gamma);
      } else {
        ends = MonotoneParabola::limited(steepened<V>(unlimited_density<V>(line), line, gamma));
      }
      deviation[opposite(p)] = ends.lower, deviation[p] = ends.upper;
    }
  }

 private:
  template <class V, class Line>
  KOKKOS_FORCEINLINE_FUNCTION static Faces<V> unlimited_density(const Line& line) {
    const auto difference = [&](int o) OCTANT_INLINE_LAMBDA {
      return V(line(k_density, o) - line(k_density, 0));
    };
    return MonotoneParabola::ends(difference(-2), difference(-1), difference(1), difference(2));
  }
};

}  // namespace octant::hydro
