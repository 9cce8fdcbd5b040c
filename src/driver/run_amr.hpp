// `octant run` for model = "amr".
#pragma once

#include "driver/run.hpp"

namespace octant::driver {

// Returns the exit code. Throws InputError before the first step, RunError after it. Collective.
int run_amr(const RunRequest& request);

}  // namespace octant::driver
