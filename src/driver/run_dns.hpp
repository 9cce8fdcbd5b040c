// `octant run` and `octant check` for model = "dns".
#pragma once

#include "driver/run.hpp"

namespace octant::driver {

// Returns the exit code. Throws InputError before the first step, RunError after it. Collective.
int run_dns(const RunRequest& request);

// Validates the input, prints the resolved parameters and the estimated memory and cost. Returns
// the exit code. Throws InputError. Collective.
int check_dns(const RunRequest& request);

}  // namespace octant::driver
