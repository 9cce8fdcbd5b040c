// Sides whose values differ suddenly from the flow beside them: a wall that begins to move, or is
// heated at once.
#pragma once

#include "dns/incompressible_flow.hpp"

namespace octant::dns {

// Whether, along an axis whose diffusion is implicit, some velocity along a side or the scalar
// jumps from the side's value to those in the cells: what two cells beside the side extrapolate to
// lies farther from it than three times their difference. A flow whose boundary layers are resolved
// has no such jump, and neither has noise. Reads the ghosts. Collective.
bool has_sudden_walls(Flow& flow);

// Whether Crank and Nicolson's scheme lets the stiffest mode of implicit diffusion change its sign
// in a stage of a step: shorter steps need no damping, and are more accurate without.
bool would_ring(const Flow& flow, double dt);

}  // namespace octant::dns
