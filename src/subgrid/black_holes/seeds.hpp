// Holes form.
#pragma once

#include "subgrid/black_holes/step.hpp"

namespace octant::subgrid {

// In gas of a finest cell that is dense enough, unstable, and far from all holes; nowhere if their
// mass is 0. True, on all ranks, if any formed. Collective.
bool form_holes(const HoleStep& step);

}  // namespace octant::subgrid
