// `octant bench placement`: what the placement policies make of given or made-up block costs.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options and files. Only the root
// works.
int placement_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
