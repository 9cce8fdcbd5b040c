// RAMSES's way to solve du/dt = -L(u): steps h that are implicit in the linearised rate,
//   u_1 = u_0 - h L / (1 + h L'),  h = min(t, u_0 / (4 |L|), -1 / (4 L') where that is positive).
// The last one is cut by linear interpolation. Where u changes fast they err by some per cent.
#pragma once

#include "subgrid/cooling/exact.hpp"

namespace octant::subgrid::cooling {

// The internal energy per mass that gas of u has after a time t in seconds. After 500 steps the
// exact solution ends what is left, and `exactly_ended` becomes true: RAMSES would stop there.
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
