// Starts and ends MPI and Kokkos: the first object of every main program.
#pragma once

namespace octant {

// MPI and Kokkos run while this object lives. One per process.
class Runtime {
 public:
  // MPI takes its own arguments out of argv; Kokkos is configured by its environment variables only
  // (KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, ...) and leaves argv alone.
  Runtime(int& argc, char**& argv);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// After an error: whether all ranks have come to the same point within a few seconds. If not, the error
// is this rank's alone, and the others wait for it somewhere else.
bool all_ranks_agree_to_end();

// Ends the program on every rank at once, for a failure that the other ranks know nothing about.
// The message must have been written before.
[[noreturn]] void end_all_ranks(int exit_code);

}  // namespace octant
