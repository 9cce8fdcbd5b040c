// `octant bench cooling`: time per cell for cooling, and time to prepare a table.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int cooling_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
