// `octant bench placement`: results of the placement policies for given or generated block costs.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options and files. Only the
// root works.
int placement_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
