// The usual way to solve du/dt = -L(u), for comparison and for rates without nodes: implicit steps
// in log u that are kept short.
#pragma once

#include "subgrid/cooling/exact.hpp"

namespace octant::subgrid::cooling {

struct ImplicitControl {
  double tolerance = 0.05;  // largest change of log u in a sub-step
  int most_steps = 100;     // sub-steps; the exact solution ends what they leave over
};

// Backward Euler, u_1 = u_0 - h L(u_1): the root between u_0 and the end of the table that L points
// to, by Newton's method in log u, and by halving where that leaves the bracket.
template <class Rates>
KOKKOS_INLINE_FUNCTION double backward_euler(const Rates& rates, double u_0, double h) {
  const auto left_over = [&](double u) { return u - u_0 + h * rate_at(rates, u); };
  const double least = rates.energy(0), most = rates.energy(rates.count() - 1);
  if (u_0 <= least || u_0 >= most) return advance_exactly(rates, u_0, h);
  const double first = left_over(u_0);
  if (first == 0.0) return u_0;
  const double end = first > 0.0 ? least : most;
  if ((first > 0.0) == (left_over(end) > 0.0)) return end;
  double low = first > 0.0 ? end : u_0, high = first > 0.0 ? u_0 : end;  // negative and positive
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

// The internal energy per mass that gas of u has after a time t in seconds. Steps of h and of h / 2
// are extrapolated to second order. `exactly_ended` becomes true where the sub-steps did not
// suffice.
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
    // Where rates fall with u a step may have several solutions: both must be near.
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

}  // namespace octant::subgrid::cooling
