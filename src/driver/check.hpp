// `octant check` and `octant run --dry-run`: what a run would be and need, without running it.
#pragma once

#include "driver/run_amr.hpp"

namespace octant::driver {

// Validates the input, prints the resolved parameters and the estimated memory and cost. Returns
// the exit code. Throws InputError. Collective.
int check(const RunRequest& request);

}  // namespace octant::driver
