// `octant bench device-model`: sweeps of levels of several sizes by both schedules, from which
// execution.model chooses.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int device_model_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
