// Contacts that stay sharp: parabolas of the density are steepened where it jumps and the pressure
// does not (Colella & Woodward 1984, eqs. 1.14-1.17 and 3.2, with their constants).
#pragma once

#include "hydro/reconstruction.hpp"

namespace octant::hydro {

// Along a line of cells: distances of densities from the cell's own, and pressures.
template <class V>
struct ContactStencil {
  V left2, left, centre, right, right2;  // centre: the density itself
  V pressure_left, pressure_right;
};

// The share of a contact in a cell's profile (eqs. 1.16 and 1.17), from 0 to 1.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V contact_share(const ContactStencil<V>& s, double gamma) {
  constexpr double k_least_jump = 0.01, k_stiffness = 0.1, k_growth = 20.0, k_least = 0.05;
  const V bend_left = s.left2 - V(2.0) * s.left, bend_right = s.right2 - V(2.0) * s.right;
  const V rise = s.right - s.left, jump = absolute(rise);
  const V least = s.centre + min(s.left, s.right);
  const V push = absolute(V(s.pressure_right - s.pressure_left));
  const V stiffness = V(k_stiffness * gamma) * min(s.pressure_left, s.pressure_right);
  const auto is_contact = bend_left * bend_right < V(0.0) && jump > V(k_least_jump) * least &&
                          stiffness * jump >= push * least;
  const V steepness = (bend_left - bend_right) / (V(6.0) * select(is_contact, rise, V(1.0)));
  const V share = V(k_growth) * (steepness - V(k_least));
  return select(is_contact, max(min(share, V(1.0)), V(0.0)), V(0.0));
}

// The faces of the density with a contact in the cell: those of its neighbours' slopes, as far as
// there is one (eqs. 1.14 and 1.15), and monotone (eq. 1.10).
template <class V>
OCTANT_OUT_OF_LINE Faces<V> with_contact(const Faces<V> smooth, const ContactStencil<V> s,
                                         double gamma) {
  const V share = contact_share(s, gamma);
  const V slope_left = MonotonisedCentral::slope(V(s.left - s.left2), V(-s.left));
  const V slope_right = MonotonisedCentral::slope(s.right, V(s.right2 - s.right));
  const V steep_below = s.left + V(0.5) * slope_left, steep_above = s.right - V(0.5) * slope_right;
  const V below = fused_multiply_add(share, V(steep_below - smooth.lower), smooth.lower);
  const V above = fused_multiply_add(share, V(steep_above - smooth.upper), smooth.upper);
  const auto changes = share > V(0.0);
  return {select(changes, Minmod::slope(below, V(V(-2.0) * above)), smooth.lower),
          select(changes, Minmod::slope(above, V(V(-2.0) * below)), smooth.upper)};
}

// From the distances of a parabola's ends and the primitive variables along a line: line(n, o) is
// variable n of the cell that is o cells away.
template <class V, class Line>
KOKKOS_FORCEINLINE_FUNCTION Faces<V> steepened(const Faces<V>& smooth, const Line& line,
                                               double gamma) {
  const V centre = line(k_density, 0);
  return with_contact(
      smooth,
      ContactStencil<V>{V(line(k_density, -2) - centre), V(line(k_density, -1) - centre), centre,
                        V(line(k_density, 1) - centre), V(line(k_density, 2) - centre),
                        line(k_pressure, -1), line(k_pressure, 1)},
      gamma);
}

}  // namespace octant::hydro
