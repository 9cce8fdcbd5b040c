// `octant bench health`: finds slow nodes before a long run.
#pragma once

#include <string>
#include <vector>

namespace octant::bench {

// Runs the command. Returns an exit code; throws InputError for bad options or an exclude list that
// cannot be written. Collective.
int health_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
