// A run with model = "dns".
#pragma once

#include "driver/run_by_steps.hpp"

namespace octant::driver {

// The model that a request's parameter file describes. Throws InputError. Collective.
OpenModel make_dns_model(const RunRequest& request, const Communicator& communicator);

}  // namespace octant::driver
