// `octant bench device-model`: sweeps of levels of several sizes with both schedules, the input of
// execution.model.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int device_model_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
