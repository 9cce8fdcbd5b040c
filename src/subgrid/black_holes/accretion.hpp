// Holes swallow gas, are slowed down by it, and change their spins.
#pragma once

#include <vector>

#include "subgrid/black_holes/step.hpp"

namespace octant::subgrid {

// How much the wake of a body that moves through gas at this Mach number slows it down, in units of
// 4 pi (G M)^2 rho / c_s^2 (Ostriker 1999, ApJ 513, 252; 1 about the speed of sound).
double wake(double mach);

// The part of a disc that falls upon a hole at once: of the mass that is within the radius up to
// which the hole bends it, or up to which it does not break up (Dubois et al. 2014, MNRAS 440,
// 1590, sections 2.2 and 2.3). Mass over that of the hole, radius over 2 G M / c^2. Both are 0 for
// a hole without spin. `feeding` is the rate over Eddington's, at most 1.
struct DiscPart {
  double mass, radius;
};
DiscPart disc_part(double spin, double solar_masses, double feeding, double efficiency);

// Holes swallow gas and are dragged by it for the steps of their levels, which all have just ended.
// True, on all ranks, if there are any. Collective.
bool feed(const HoleStep& step, std::vector<Hole>& holes);

}  // namespace octant::subgrid
