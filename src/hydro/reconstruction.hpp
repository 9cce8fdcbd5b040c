// Profiles of a quantity inside a cell, from its neighbours along one axis, for any Pack.
//
// A reconstruction is a type with `reach`, the neighbours that it reads on each side, and
//   profile(q): q(o) gives the value o cells away along the axis, -reach <= o <= reach.
// A profile tells how far the values at the lower and the upper face lie from the cell's own, and the
// difference across the cell, which serves as the slope in the half step.
#pragma once

#include "core/pack.hpp"

namespace octant::hydro {

// Slope limiters: `left` and `right` are the one-sided differences. Where they differ in sign, one of
// the two clipped terms is zero because the other is, so no test is needed.
struct Minmod {
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const V& left, const V& right) {
    return max(min(left, right), V(0.0)) + min(max(left, right), V(0.0));
  }
};

struct MonotonisedCentral {
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const V& left, const V& right) {
    const V centre = V(0.5) * (left + right);
    const V low = V(2.0) * min(left, right), high = V(2.0) * max(left, right);
    return max(min(low, centre), V(0.0)) + min(max(high, centre), V(0.0));
  }
};

// The harmonic mean of the differences where they agree in sign (van Leer 1974). One division.
struct VanLeer {
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V slope(const V& left, const V& right) {
    const V product = max(left * right, V(0.0));
    const V sum = left + right;
    const auto alike = product > V(0.0);
    return select(alike, V(2.0) * product / select(alike, sum, V(1.0)), V(0.0));
  }
};

template <class V>
struct LinearProfile {
  V slope;
  KOKKOS_FORCEINLINE_FUNCTION V difference() const { return slope; }
  KOKKOS_FORCEINLINE_FUNCTION V lower(const V& centre) const { return centre + V(-0.5) * slope; }
  KOKKOS_FORCEINLINE_FUNCTION V upper(const V& centre) const { return centre + V(0.5) * slope; }
};

// Piecewise linear.
template <class Limiter>
struct Plm {
  static constexpr int reach = 1;
  template <class V>
  using Profile = LinearProfile<V>;

  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Profile<V> profile(const Values& q) {
    const V centre = q(0);
    return {Limiter::slope(V(centre - q(-1)), V(q(1) - centre))};
  }
};

template <class V>
struct ParabolicProfile {
  V below, above;  // what lies between the cell's mean and its values at the faces
  KOKKOS_FORCEINLINE_FUNCTION V difference() const { return above - below; }
  KOKKOS_FORCEINLINE_FUNCTION V lower(const V& centre) const { return centre + below; }
  KOKKOS_FORCEINLINE_FUNCTION V upper(const V& centre) const { return centre + above; }
};

// Piecewise parabolic (Colella & Woodward 1984): values at faces by eq. 1.6 with the limited slopes of
// eq. 1.8, then the monotonicity constraint of eq. 1.10. In terms of the distances d- = a_L - a and
// d+ = a_R - a that constraint reads: zero if they agree in sign, else neither more than twice the other.
struct Ppm {
  static constexpr int reach = 2;
  template <class V>
  using Profile = ParabolicProfile<V>;

  template <class V, class Values>
  KOKKOS_FORCEINLINE_FUNCTION static Profile<V> profile(const Values& q) {
    const V centre = q(0), left = q(-1), right = q(1);
    const V to_left = centre - left, to_right = right - centre;
    const V slope = MonotonisedCentral::slope(to_left, to_right);
    const V slope_left = MonotonisedCentral::slope(V(left - q(-2)), to_left);
    const V slope_right = MonotonisedCentral::slope(to_right, V(q(2) - right));
    const V below = V(1.0 / 6.0) * (slope_left - slope) - V(0.5) * to_left;
    const V above = V(0.5) * to_right - V(1.0 / 6.0) * (slope_right - slope);
    return {Minmod::slope(below, V(V(-2.0) * above)), Minmod::slope(above, V(V(-2.0) * below))};
  }
};

}  // namespace octant::hydro
