// `octant bench fof`: speed of friends-of-friends group finding, and groups of given points.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int fof_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
