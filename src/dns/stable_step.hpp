// How long a time step may be.
#pragma once

#include "dns/measure.hpp"

namespace octant::dns {

// The longest step, times cfl, that is stable by linear theory from its beginning to its end: the
// advection and diffusion that are explicit must stay within sqrt(3) and 2.51, the limits of Wray's
// scheme on the imaginary and the real axis. The velocities are those of the flow, of its walls and
// of what enters and leaves, and what the forcing adds to them within the step; nor shall fluid
// that rises from rest by its buoyancy cross more cells. Infinite where nothing moves or will.
double stable_step(const Flow& flow, const Totals& totals, double cfl);

}  // namespace octant::dns
