// How much of a rank's time the MPI library takes.
#pragma once

#include <cstdint>

namespace octant {

// Processor time that the main thread has spent inside of blocking MPI calls, its own and those of
// libraries, since the program began: much of waiting is spinning, which is no work.
std::int64_t cpu_ns_in_mpi();

}  // namespace octant
