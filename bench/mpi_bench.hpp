// `octant bench mpi`: properties of the MPI library that the exchanges of a run depend on
// (CPLX paper, section IV-B).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::bench {

struct MpiCase {
  int repeats = 100;                      // of each measurement; medians count
  double compute_seconds = 2e-3;          // computation between the MPI calls of a test
  std::int64_t transfer_bytes = 4 << 20;  // message that is transferred during computation
};

// Largest message that leaves its sender before the receiver has called MPI, in bytes; at most
// `most_bytes`, and 0 if none does. Collective over two ranks, of which the first sends.
std::int64_t eager_limit(const Communicator& pair, std::int64_t most_bytes);

// Transfer of a message while both ranks compute.
struct Progress {
  double alone_seconds = 0.0;  // without computation
  double wait_seconds = 0.0;   // after a computation of more than that time
  double overlapped() const;   // fraction of the transfer that took place during the computation
};
Progress transfer_progress(const Communicator& pair, const MpiCase& mpi_case);

// Time per message for receiving `count` small messages that were sent before the receiver calls
// MPI.
double burst_seconds(const Communicator& pair, const MpiCase& mpi_case, int count);

// Collective calls: median and 99th percentile of the slowest rank.
struct CollectiveTimes {
  double barrier = 0.0, barrier_p99 = 0.0;
  double all_reduce = 0.0, all_reduce_p99 = 0.0;
  Progress background;  // of a non-blocking reduction
};
CollectiveTimes collective_times(const Communicator& communicator, const MpiCase& mpi_case);

// Exchange along a ring in which every second rank computes: median waiting time of the rank that
// waits most, if ranks send before or after they compute.
struct SendOrder {
  double sends_first = 0.0, sends_last = 0.0;
};
SendOrder measure_send_order(const Communicator& communicator, const MpiCase& mpi_case);

// Runs the command. Returns an exit code; throws InputError for bad options and on one rank.
// Collective.
int mpi_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
