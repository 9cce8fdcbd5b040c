// The arithmetic of tridiagonal solvers for one entry of one line, which fixes their bits: of those
// that work plane by plane, and of those of all planes at once. Internal to pencil/.
//
// A_n, B_n and C_n multiply the unknowns before, at and after plane n in the order of the sweep.
#pragma once

#include <Kokkos_Macros.hpp>

namespace octant::pencil {

// Thomas' algorithm: r_n = 1 / (B_n - A_n C_(n-1) r_(n-1)); `product` is A_n C_(n-1).
KOKKOS_INLINE_FUNCTION double pivot_reciprocal(double diagonal, double product, double r_before) {
  return 1.0 / (diagonal - product * r_before);
}
// d'_n = (d_n - A_n d'_(n-1)) r_n
KOKKOS_INLINE_FUNCTION double eliminated(double d, double a, double before, double r) {
  return (d - a * before) * r;
}
// phi_n = d'_n - C_n r_n phi_(n+1)
KOKKOS_INLINE_FUNCTION double substituted(double d, double c, double r, double after) {
  return d - c * r * after;
}

// Partitions, whose rows are left unscaled (partition.hpp): d'_n = d_n - A_n r_(n-1) d'_(n-1)
KOKKOS_INLINE_FUNCTION double eliminated_unscaled(double d, double a, double r_before,
                                                  double before) {
  return d - a * r_before * before;
}
// phi_n = (d'_n - C_n phi_(n+1)) r_n - f_n phi_0
KOKKOS_INLINE_FUNCTION double substituted_between(double d, double c, double after, double r,
                                                  double fill, double first) {
  return (d - c * after) * r - fill * first;
}

}  // namespace octant::pencil
