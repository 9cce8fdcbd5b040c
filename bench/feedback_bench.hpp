// `octant bench feedback`: time of many supernovae or AGN events.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int feedback_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
