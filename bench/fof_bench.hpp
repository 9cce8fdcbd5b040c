// `octant bench fof`: how fast groups of friends are found, and those among given points.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int fof_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
