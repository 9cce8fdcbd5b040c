// `octant bench regrid`: what it costs to change a mesh, beside building all of its tables.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// The command. Returns an exit code; throws InputError for bad options. Collective.
int regrid_bench(const std::vector<std::string>& options);

}  // namespace octant::bench
