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
  const double difference = rate_1 - rate_0, per_sum = 1.0 / (rate_0 + rate_1);
  const double q = difference * per_sum, y = q * q;
  if (y > 0.05) return fall * Kokkos::log(rate_1 / rate_0) / difference;
  // 2 fall / (rate_0 + rate_1) atanh(q) / q.
  constexpr double a1 = 1.0 / 3, a2 = 1.0 / 5, a3 = 1.0 / 7, a4 = 1.0 / 9, a5 = 1.0 / 11,
                   a6 = 1.0 / 13, a7 = 1.0 / 15, a8 = 1.0 / 17, a9 = 1.0 / 19, a10 = 1.0 / 21,
                   a11 = 1.0 / 23;
  const double y2 = y * y, y4 = y2 * y2;
  const double low = (1.0 + a1 * y) + y2 * (a2 + a3 * y);
  const double middle = (a4 + a5 * y) + y2 * (a6 + a7 * y);
  const double high = (a8 + a9 * y) + y2 * (a10 + a11 * y);
  return 2.0 * fall * per_sum * (low + y4 * (middle + y4 * high));
}

// Two neighbouring nodes.
struct Segment {
  int above;  // the number of the higher one
  Point low, high;

  KOKKOS_FORCEINLINE_FUNCTION bool holds(double u) const {
    return low.energy <= u && u < high.energy;
  }
};

// The segment that holds u, or the one next to it where none does.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION Segment segment_around(const Rates& rates, double u) {
  const int last = rates.count() - 1, guess = rates.guess(u);
  const int above = guess < 1 ? 1 : guess < last ? guess : last;
  Segment s{above, rates.point(above - 1), rates.point(above)};
  while (s.high.energy <= u && s.above < last) s = {s.above + 1, s.high, rates.point(s.above + 1)};
  while (s.low.energy > u && s.above > 1) s = {s.above - 1, rates.point(s.above - 2), s.low};
  return s;
}

// Towards a node within the table, or out of it.
struct Way {
  int node, step;  // the node, and -1 where gas cools, 1 where it is heated
  double rate;     // at the beginning
  Point next;      // the node's
};

// The way from u. Beyond the table rates are those of its ends, but below it nothing cools.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION Way way_from(const Rates& rates, double u) {
  const auto [above, low, high] = segment_around(rates, u);
  if (u < low.energy) return {0, 1, low.rate < 0.0 ? low.rate : 0.0, low};
  if (u >= high.energy)
    return {high.rate > 0.0 ? above : above + 1, high.rate > 0.0 ? -1 : 1, high.rate, high};
  const double part = (u - low.energy) / (high.energy - low.energy);
  const double rate = low.rate + (high.rate - low.rate) * part;
  // Without a branch: no processor can tell which gas is heated.
  const bool cools = rate > 0.0;
  const Point ends[2] = {high, low};
  return {above - cools, 1 - 2 * cools, rate, ends[cools]};
}

// The net rate at u.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double rate_at(const Rates& rates, double u) {
  return way_from(rates, u).rate;
}

// The internal energy per mass that gas of u has after a time t in seconds. `Rates` are those of
// one cell: count(), energy(node), point(node), and guess(u), a node that is near u.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double advance_exactly(const Rates& rates, double u, double t) {
  Way way = way_from(rates, u);
  double rate = way.rate;
  if (rate == 0.0) return u;
  while (way.node >= 0 && way.node < rates.count()) {
    const double fall = u - way.next.energy, next_rate = way.next.rate;
    if (fall != 0.0) {
      // Most steps end before the node: at no rate on the way could it be reached.
      const double far = Kokkos::abs(fall);
      const bool is_far = t * Kokkos::abs(rate) < far && t * Kokkos::abs(next_rate) < far;
      const bool ends = is_far || !(rate * next_rate > 0.0);
      const double crossing = ends ? t : crossing_time(fall, rate, next_rate);
      if (ends || crossing > t) return u - rate * t * relaxation((rate - next_rate) / fall * t);
      t -= crossing;
      u = way.next.energy;
    }
    rate = next_rate;
    way.node += way.step;
    if (way.node >= 0 && way.node < rates.count()) way.next = rates.point(way.node);
  }
  // Below the table nothing cools; above it, heat comes at the last rate.
  return way.step < 0 ? u : u - rate * t;
}

}  // namespace octant::subgrid::cooling
