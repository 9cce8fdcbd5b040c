// `octant bench regrid`: cost of changing a mesh, compared with building all of its tables.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int regrid_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
