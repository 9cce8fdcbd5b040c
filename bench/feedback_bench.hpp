// `octant bench feedback`: how long many supernovae or active nuclei take to change the gas.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int feedback_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
