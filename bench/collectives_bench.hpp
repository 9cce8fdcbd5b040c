// `octant bench collectives`: what MPI's collective calls take (curamses.txt, section 8.6.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// "all_reduce", "tree" (an all-reduce by hand: reduced to the root along a binary tree, and sent
// back), "broadcast", "ring" (each rank to the next one) and "all_to_all".
const std::vector<std::string>& collectives();

struct CollectiveResult {
  std::int64_t repeats = 0;
  double mean_seconds = 0.0, least_seconds = 0.0;  // of the slowest rank of each repeat
};

// Times a collective call on `doubles` values per rank (all_to_all: of which each rank gets its
// share), after one that warms up, until `repeats` are done or `seconds` are over. Throws RunError
// where a rank ends up with other values than it should. Collective.
CollectiveResult measure_collective(const Communicator& communicator, const std::string& name,
                                    std::int64_t doubles, int repeats, double seconds);

// The command. Returns an exit code; throws InputError for bad options. Collective.
int collectives_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
