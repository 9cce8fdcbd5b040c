// `octant bench NAME`: benchmarks of parts of Octant.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs a benchmark by name with the remaining arguments. Returns an exit code; throws InputError
// with all names if there is none of that name. Collective.
int run(const std::string& name, const std::vector<std::string>& options);

}  // namespace octant::bench
