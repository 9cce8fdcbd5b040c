// Solvers of du/dt = -L(u) for the internal energy of gas: exact, implicit, and that of RAMSES.
#pragma once

#include "subgrid/cooling/nodes.hpp"

namespace octant::subgrid::cooling {

// Exact solution of du/dt = -L(u) for a net rate L that is linear in u between nodes of a table.
//
// In a segment between two nodes, with L_0 at u_0 and the slope s = dL/du,
//   L(t) = L_0 exp(-s t),  u(t) = u_0 - L_0 t phi(s t),  phi(x) = (1 - exp(-x)) / x,
// and a node at u_1 with a rate L_1 of the same sign is reached after
//   t_1 = (u_0 - u_1) ln(L_1 / L_0) / (L_1 - L_0).
// If the sign changes within a segment, the gas approaches the equilibrium in it and never crosses
// it. The solution requires no iteration, and n steps of dt / n equal one step of dt to rounding.
// Townsend (2009, ApJS 181, 391) solves power laws in T; linear segments allow any sum of terms.

// (1 - exp(-x)) / x.
KOKKOS_FORCEINLINE_FUNCTION double relaxation(double x) {
  if (x > 0.05 || x < -0.05) return -Kokkos::expm1(-x) / x;
  constexpr double c1 = -1.0 / 2, c2 = 1.0 / 6, c3 = -1.0 / 24, c4 = 1.0 / 120, c5 = -1.0 / 720,
                   c6 = 1.0 / 5040, c7 = -1.0 / 40320;
  const double x2 = x * x;
  return (1.0 + c1 * x) + x2 * ((c2 + c3 * x) + x2 * ((c4 + c5 * x) + x2 * (c6 + c7 * x)));
}

// Time in which the internal energy decreases by `fall` while the rate changes linearly from rate_0
// to rate_1 of the same sign: `fall` divided by the logarithmic mean of the rates.
KOKKOS_FORCEINLINE_FUNCTION double crossing_time(double fall, double rate_0, double rate_1) {
  const double difference = rate_1 - rate_0, per_sum = 1.0 / (rate_0 + rate_1);
  const double q = difference * per_sum, y = q * q;
  if (y > 0.05) return fall * Kokkos::log(rate_1 / rate_0) / difference;
  // Series of 2 fall / (rate_0 + rate_1) atanh(q) / q.
  constexpr double a1 = 1.0 / 3, a2 = 1.0 / 5, a3 = 1.0 / 7, a4 = 1.0 / 9, a5 = 1.0 / 11,
                   a6 = 1.0 / 13, a7 = 1.0 / 15, a8 = 1.0 / 17, a9 = 1.0 / 19, a10 = 1.0 / 21,
                   a11 = 1.0 / 23;
  const double y2 = y * y, y4 = y2 * y2;
  const double low = (1.0 + a1 * y) + y2 * (a2 + a3 * y);
  const double middle = (a4 + a5 * y) + y2 * (a6 + a7 * y);
  const double high = (a8 + a9 * y) + y2 * (a10 + a11 * y);
  return 2.0 * fall * per_sum * (low + y4 * (middle + y4 * high));
}

// Segment between two neighbouring nodes.
struct Segment {
  int above;  // number of the upper node
  Point low, high;

  KOKKOS_FORCEINLINE_FUNCTION bool holds(double u) const {
    return low.energy <= u && u < high.energy;
  }
};

// Returns the segment that contains u, or the nearest one if u is outside the table.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION Segment segment_around(const Rates& rates, double u) {
  const int last = rates.count() - 1, guess = rates.guess(u);
  const int above = guess < 1 ? 1 : guess < last ? guess : last;
  Segment s{above, rates.point(above - 1), rates.point(above)};
  while (s.high.energy <= u && s.above < last) s = {s.above + 1, s.high, rates.point(s.above + 1)};
  while (s.low.energy > u && s.above > 1) s = {s.above - 1, rates.point(s.above - 2), s.low};
  return s;
}

// Direction in which the energy evolves, and the next node in that direction.
struct CoolingPath {
  int node, step;  // next node; -1 if the gas cools, 1 if it heats
  double rate;     // net rate at the start
  Point next;      // values of the next node
};

// Returns the direction of evolution from u. Rates outside the table are those at its ends, but gas
// below the lowest temperature does not cool.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION CoolingPath path_from(const Rates& rates, double u) {
  const auto [above, low, high] = segment_around(rates, u);
  if (u < low.energy) return {0, 1, low.rate < 0.0 ? low.rate : 0.0, low};
  if (u >= high.energy)
    return {high.rate > 0.0 ? above : above + 1, high.rate > 0.0 ? -1 : 1, high.rate, high};
  const double part = (u - low.energy) / (high.energy - low.energy);
  const double rate = low.rate + (high.rate - low.rate) * part;
  // The node is selected without branches, because the sign of the rate is unpredictable.
  const bool cools = rate > 0.0;
  const Point ends[2] = {high, low};
  return {above - cools, 1 - 2 * cools, rate, ends[cools]};
}

// Returns the net rate at u.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double rate_at(const Rates& rates, double u) {
  return path_from(rates, u).rate;
}

// Returns the internal energy per mass after a time t in seconds, starting from u. `Rates` of one
// cell have count(), energy(node), point(node), and guess(u), a node near u.
template <class Rates>
KOKKOS_FORCEINLINE_FUNCTION double advance_exactly(const Rates& rates, double u, double t) {
  CoolingPath path = path_from(rates, u);
  double rate = path.rate;
  if (rate == 0.0) return u;
  while (path.node >= 0 && path.node < rates.count()) {
    const double fall = u - path.next.energy, next_rate = path.next.rate;
    if (fall != 0.0) {
      // Most steps end before the next node: rates at both ends of the segment are small.
      const double far = Kokkos::abs(fall);
      const bool is_far = t * Kokkos::abs(rate) < far && t * Kokkos::abs(next_rate) < far;
      const bool ends = is_far || !(rate * next_rate > 0.0);
      const double crossing = ends ? t : crossing_time(fall, rate, next_rate);
      if (ends || crossing > t) return u - rate * t * relaxation((rate - next_rate) / fall * t);
      t -= crossing;
      u = path.next.energy;
    }
    rate = next_rate;
    path.node += path.step;
    if (path.node >= 0 && path.node < rates.count()) path.next = rates.point(path.node);
  }
  // Cooling ends at the lowest temperature of the table; above the highest one, heating continues
  // at the last rate.
  return path.step < 0 ? u : u - rate * t;
}

// Control of advance_implicitly(), an implicit solution with substeps, for comparison.
struct ImplicitControl {
  double tolerance = 0.05;  // maximum change of log u in a substep
  int most_steps = 100;     // maximum number of substeps
};

// Backward Euler step u_1 = u_0 - h L(u_1). The root lies between u_0 and the end of the table in
// the direction of evolution. Newton's method in log u finds it, with bisection outside the
// bracket.
template <class Rates>
KOKKOS_INLINE_FUNCTION double backward_euler(const Rates& rates, double u_0, double h) {
  const auto left_over = [&](double u) { return u - u_0 + h * rate_at(rates, u); };
  const double least = rates.energy(0), most = rates.energy(rates.count() - 1);
  if (u_0 <= least || u_0 >= most) return advance_exactly(rates, u_0, h);
  const double first = left_over(u_0);
  if (first == 0.0) return u_0;
  const double end = first > 0.0 ? least : most;
  if ((first > 0.0) == (left_over(end) > 0.0)) return end;
  double low = first > 0.0 ? end : u_0, high = first > 0.0 ? u_0 : end;  // residuals < 0 and > 0
  double u = u_0, value = first;
  for (int n = 0; n < 60 && high - low > 1e-12 * high; ++n) {
    const Segment s = segment_around(rates, u);
    double slope = 1.0;
    if (s.holds(u)) slope += h * (s.high.rate - s.low.rate) / (s.high.energy - s.low.energy);
    const double newton = u * Kokkos::exp(-value / (slope * u));
    u = newton > low && newton < high ? newton : Kokkos::sqrt(low * high);
    value = left_over(u);
    if (value == 0.0) return u;
    (value > 0.0 ? high : low) = u;
  }
  return u;
}

// Returns the internal energy per mass after a time t in seconds, starting from u. Steps of h and h
// / 2 are extrapolated to second order. If control.most_steps do not suffice, the exact solution
// covers the remaining time and `exactly_ended` is set.
template <class Rates>
KOKKOS_INLINE_FUNCTION double advance_implicitly(const Rates& rates, double u, double t,
                                                 const ImplicitControl& control,
                                                 bool& exactly_ended) {
  double h = t;
  for (int n = 0; n < control.most_steps && t > 0.0; ++n) {
    const double rate = rate_at(rates, u);
    if (rate == 0.0) return u;
    h = h < t ? h : t;
    double whole = 0.0, halves = 0.0;
    // A step may have several solutions if rates decrease with u, so both results must be near u.
    const auto is_far = [&](double after) {
      return Kokkos::abs(Kokkos::log(after / u)) > control.tolerance;
    };
    for (;; h *= 0.5) {
      whole = backward_euler(rates, u, h);
      if (is_far(whole)) continue;
      halves = backward_euler(rates, backward_euler(rates, u, 0.5 * h), 0.5 * h);
      if (!is_far(halves)) break;
    }
    u = 2.0 * halves - whole;
    t -= h;
    h *= 2.0;
  }
  exactly_ended = t > 0.0;
  return exactly_ended ? advance_exactly(rates, u, t) : u;
}

// Solution of du/dt = -L(u) as in RAMSES, by steps h that are implicit in the linearised rate,
//   u_1 = u_0 - h L / (1 + h L'),  h = min(t, u_0 / (4 |L|), -1 / (4 L') where that is positive).
// Linear interpolation shortens the last step. Errors are a few per cent where u changes rapidly.

// Returns the internal energy per mass after a time t in seconds, starting from u. After 500 steps,
// where RAMSES aborts, the exact solution covers the remaining time and `exactly_ended` is set.
template <class Rates>
KOKKOS_INLINE_FUNCTION double advance_linearised(const Rates& rates, double u, double t,
                                                 bool& exactly_ended) {
  constexpr int most_steps = 500;
  constexpr double per_change = 4.0;
  u = max(u, rates.energy(0));
  double left = t;
  for (int n = 0; n < most_steps; ++n) {
    const Segment s = segment_around(rates, u);
    const double slope = (s.high.rate - s.low.rate) / (s.high.energy - s.low.energy);
    const double rate = s.low.rate + slope * (u - s.low.energy);
    double h = t;
    if (per_change * h * Kokkos::abs(rate) > u) h = u / (per_change * Kokkos::abs(rate));
    if (-per_change * h * slope > 1.0) h = -1.0 / (per_change * slope);
    const double mean_rate = rate / (1.0 + h * slope);
    if (h >= left) return u - mean_rate * left;
    u -= mean_rate * h;
    left -= h;
  }
  exactly_ended = true;
  return advance_exactly(rates, u, left);
}

}  // namespace octant::subgrid::cooling
