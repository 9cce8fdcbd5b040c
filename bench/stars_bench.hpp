// `octant bench stars`: time per cell for star formation, with and without new stars.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int stars_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
