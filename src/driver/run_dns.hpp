// `octant run` and `octant check` for model = "dns".
#pragma once

#include "driver/run_by_steps.hpp"

namespace octant::driver {

// The model that a request's parameter file describes. Throws InputError. Collective.
OpenModel make_dns_model(const RunRequest& request, const Communicator& communicator);

// Returns the exit code. Throws InputError before the first step, RunError after it. Collective.
int run_dns(const RunRequest& request);

// Validates the input, prints the resolved parameters and the estimated memory and cost. Returns
// the exit code. Throws InputError. Collective.
int check_dns(const RunRequest& request);

}  // namespace octant::driver
