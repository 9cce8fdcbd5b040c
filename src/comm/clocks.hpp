// Clock synchronisation between ranks, and the time inside the MPI library.
#pragma once

#include <cstdint>

#include "comm/communicator.hpp"

namespace octant {

// Offset from Observer::now() on this rank to the clock of rank 0, and its maximum error.
struct ClockOffset {
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;
};

// Compares the clocks of all ranks with that of rank 0 along a binary tree: log2(ranks) rounds of a
// few requests and replies. The age of a reply is half of the round-trip time, with an error of the
// same size; errors add up along the tree. Collective.
ClockOffset align_clocks(const Communicator& communicator);

// Compares clocks between nodes only: `node` contains the ranks of this rank's machine, which share
// a clock; the first rank of each node takes part. Collective over both communicators.
ClockOffset align_clocks(const Communicator& communicator, const Communicator& node);

// Sums, during its lifetime, the time inside blocking MPI calls of this program and its libraries:
// the CPU time of the main thread, which is busy waiting, and the wall-clock time.
class MpiStopwatch {
 public:
  MpiStopwatch();
  ~MpiStopwatch();
  MpiStopwatch(const MpiStopwatch&) = delete;
  MpiStopwatch& operator=(const MpiStopwatch&) = delete;

  std::int64_t cpu_ns() const;  // CPU time so far, in nanoseconds
  // Wall-clock time so far, in nanoseconds.
  std::int64_t wall_ns() const;

 private:
  std::int64_t cpu_before_, wall_before_;
};

}  // namespace octant
