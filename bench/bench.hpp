// `octant bench NAME`: measurements of the speed of one part of Octant.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs a benchmark by its name with the rest of the command line. Returns an exit code; throws
// InputError, listing the names, if there is none of that name. Collective.
int run(const std::string& name, const std::vector<std::string>& options);

}  // namespace octant::bench
