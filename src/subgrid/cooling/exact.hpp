// The exact solution of du/dt = -L(u) for a net rate L that is linear in u between the temperatures
// of a table.
//
// In such a segment, with L_0 at u_0 and the slope s = dL/du,
//   L(t) = L_0 exp(-s t),  u(t) = u_0 - L_0 t phi(s t),  phi(x) = (1 - exp(-x)) / x,
// and a node at which the rate is L_1, of the same sign, is reached after
//   t_1 = (u_0 - u_1) ln(L_1 / L_0) / (L_1 - L_0).
// Where the sign changes within a segment, the gas approaches the equilibrium there and never
// crosses it. Nothing is iterated, and n steps of dt / n do the same as one of dt to rounding.
// Townsend (2009, ApJS 181, 391) solves power laws in T; linear segments allow any sum of terms.
#pragma once

#include "subgrid/cooling/nodes.hpp"

namespace octant::subgrid::cooling {

// (1 - exp(-x)) / x.
KOKKOS_FORCEINLINE_FUNCTION double relaxation(double x) {
  if (x > 0.05 || x < -0.05) return -Kokkos::expm1(-x) / x;
  constexpr double c1 = -1.0 / 2, c2 = 1.0 / 6, c3 = -1.0 / 24, c4 = 1.0 / 120, c5 = -1.0 / 720,
                   c6 = 1.0 / 5040, c7 = -1.0 / 40320;
  const double x2 = x * x;
  return (1.0 + c1 * x) + x2 * ((c2 + c3 * x) + x2 * ((c4 + c5 * x) + x2 * (c6 + c7 * x)));
}

// Time in which the internal energy falls by `fall` while the rate goes linearly from one value to
// another of the same sign: fall over the rates' logarithmic mean.
KOKKOS_FORCEINLINE_FUNCTION double crossing_time(double fall, double rate_0, double rate_1) {
  const double difference = rate_1 - rate_0, sum = rate_0 + rate_1;
  const double q = difference / sum, y = q * q;
  if (y > 0.05) return fall * Kokkos::log(rate_1 / rate_0) / difference;
  // 2 fall / sum atanh(q) / q.
  constexpr double a1 = 1.0 / 3, a2 = 1.0 / 5, a3 = 1.0 / 7, a4 = 1.0 / 9, a5 = 1.0 / 11,
                   a6 = 1.0 / 13, a7 = 1.0 / 15, a8 = 1.0 / 17, a9 = 1.0 / 19, a10 = 1.0 / 21,
                   a11 = 1.0 / 23;
  const double y2 = y * y, y4 = y2 * y2;
  const double low = (1.0 + a1 * y) + y2 * (a2 + a3 * y);
  const double middle = (a4 + a5 * y) + y2 * (a6 + a7 * y);
  const double high = (a8 + a9 * y) + y2 * (a10 + a11 * y);
  return 2.0 * fall / sum * (low + y4 * (middle + y4 * high));
}

// The first node above u; 0 where u is below all of them, the count where it is not below the last.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION int node_above(const Rates& rates, double u) {
  int above = rates.guess(u);
  while (above < rates.count() && rates.energy(above) <= u) ++above;
  while (above > 0 && rates.energy(above - 1) > u) --above;
  return above;
}

// The net rate at u. Beyond its ends the table's first and last rates hold, but below the first
// node nothing cools.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double rate_at(const Rates& rates, int above, double u) {
  if (above == 0) {
    const double first = rates.point(0).rate;
    return first < 0.0 ? first : 0.0;
  }
  if (above == rates.count()) return rates.point(above - 1).rate;
  const Point a = rates.point(above - 1), b = rates.point(above);
  return a.rate + (b.rate - a.rate) * ((u - a.energy) / (b.energy - a.energy));
}

// The internal energy per mass that gas of u has after a time t in seconds. `Rates` are those of
// one cell: count(), energy(node), point(node), and guess(u), a node that is near u.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double advance_exactly(const Rates& rates, double u, double t) {
  int above = node_above(rates, u);
  double rate = rate_at(rates, above, u);
  if (rate == 0.0) return u;
  const int step = rate > 0.0 ? -1 : 1;
  for (int node = rate > 0.0 ? above - 1 : above; node >= 0 && node < rates.count(); node += step) {
    Point next = rates.point(node);
    if (above == 0 && step > 0) next.rate = rate;  // up to the first node at its rate
    above = node + 1;
    const double fall = u - next.energy;
    if (fall == 0.0) continue;
    const bool same_sign = rate * next.rate > 0.0;
    // Most steps end before the node: at no rate on the way could it be reached.
    const double far = Kokkos::abs(fall);
    const bool is_far = t * Kokkos::abs(rate) < far && t * Kokkos::abs(next.rate) < far;
    const double crossing = same_sign && !is_far ? crossing_time(fall, rate, next.rate) : t;
    if (!same_sign || is_far || crossing > t) {
      const double slope = (rate - next.rate) / fall;
      return u - rate * t * relaxation(slope * t);
    }
    t -= crossing;
    u = next.energy;
    rate = next.rate;
  }
  // Below the table nothing cools; above it, heat comes at the last rate.
  return step < 0 ? u : u - rate * t;
}

}  // namespace octant::subgrid::cooling
