// One time for all ranks.
#pragma once

#include <cstdint>

#include "comm/communicator.hpp"

namespace octant {

// What must be added to Observer::now() on this rank to get the time of rank 0, and by how much
// that may be wrong at most.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

// Compares the clocks of all ranks with that of rank 0, along a binary tree: log2(ranks) rounds of
// a few questions and answers. An answer is older than its arrival by half of the time between the
// question and the arrival, to within as much; errors add up along the tree. Collective.
ClockOffset align_clocks(const Communicator& communicator);

// The same where `node` holds the ranks on this rank's machine, which share its clock: only the
// first rank of each compares. Collective over both.
ClockOffset align_clocks(const Communicator& communicator, const Communicator& node);

}  // namespace octant
