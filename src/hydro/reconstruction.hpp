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

}  // namespace octant::hydro
