// Initial conditions of the gas.
#pragma once

#include "amr/step_context.hpp"

namespace octant {

// Sets the problem's initial state in all cells of a level.
void set_initial_gas(StepContext& context, int level);

// Measures the scales of the gas in the leaf cells of all levels. They are 1 without gas, or for
// gas without mass and energy. Collective.
InitialScales measure_scales(const StepContext& context);

// Throws InputError if the gas varies along an axis that hydro.dimensions excludes. Collective.
void check_dimensions(const StepContext& context);

}  // namespace octant
