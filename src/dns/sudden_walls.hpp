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

}  // namespace octant::dns
