// `octant bench cooling`: how long a cell takes to cool, and a table to be prepared.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int cooling_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
