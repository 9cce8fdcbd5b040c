// Adaptive mesh refinement.
#pragma once

#include "amr/matter.hpp"
#include "amr/step_context.hpp"
#include "gravity/gravity.hpp"

namespace octant {

// Refines and derefines by all criteria of [refine], including gas and particles. `gravity` may be
// null. Returns true if the mesh changed. Collective.
bool regrid(StepContext& context, Matter& matter, const gravity::Gravity* gravity);

}  // namespace octant
