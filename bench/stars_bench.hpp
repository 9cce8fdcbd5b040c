// `octant bench stars`: how long a cell takes to form stars, or to find that it forms none.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int stars_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
