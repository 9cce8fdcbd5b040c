// `octant bench radiation`: transport of radiation, and its exchange with the gas.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int radiation_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
