// `octant bench collectives`: times of MPI collectives (cuRAMSES paper, section 8.6.2).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

// Returns "all_reduce", "tree" (manual all-reduce: reduction to the root along a binary tree, and
// back), "broadcast", "ring" (each rank to the next one) and "all_to_all".
const std::vector<std::string>& collectives();

// Time of a collective operation.
struct CollectiveResult {
  std::int64_t repeats = 0;
  double mean_seconds = 0.0, least_seconds = 0.0;  // of the slowest rank in each repeat
};

// Times a collective on `doubles` values per rank (divided over the ranks for all_to_all), after
// one warm-up, until `repeats` are done or `seconds` have passed. Throws RunError if a rank has
// wrong results. Collective.
CollectiveResult measure_collective(const Communicator& communicator, const std::string& name,
                                    std::int64_t doubles, int repeats, double seconds);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int collectives_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
