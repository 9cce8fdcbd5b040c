// Holes give back energy of what they have swallowed.
#pragma once

#include <vector>

#include "subgrid/black_holes/step.hpp"

namespace octant::subgrid {

// Own holes heat the gas, or have jets. True, on all ranks, if any did. Collective.
bool release_energy(const HoleStep& step, std::vector<Hole>& holes);

}  // namespace octant::subgrid
