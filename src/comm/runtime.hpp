// Starts and ends MPI and Kokkos: the first object of every main program.
#pragma once

#include <optional>
#include <string>

namespace octant {

namespace mpi {
// The ranks of the run, if they are not all that there are: those of a communicator, by its handle
// for Fortran. Of the MPI layer, for Runtime. Collective over it.
void run_on(int fortran_communicator);
}  // namespace mpi

// What becomes of a program on a machine whose kernels have nowhere to run (comm/devices.hpp).
enum class Kernels {
  needed,       // it ends
  if_there_are  // it goes on without Kokkos, for what needs no kernels
};

// MPI and Kokkos run while this object lives. One per process.
class Runtime {
 public:
  // MPI takes its own arguments out of argv; Kokkos is configured by its environment variables only
  // (KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, ...) and leaves argv alone.
  Runtime(int& argc, char**& argv, Kernels kernels = Kernels::needed);
  // As a guest of another program, whose MPI goes on if it runs already. The run's ranks are those
  // of a communicator, given by its handle for Fortran, or all. Throws InputError, RunError.
  explicit Runtime(std::optional<int> fortran_communicator);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// Why this run goes without kernels, and what to do; empty where it has them. All ranks agree.
const std::string& why_no_kernels();
// Throws RunError with that. Collective.
void require_kernels();

// After an error: whether all ranks have come to the same point within a few seconds. If not, the
// error is this rank's alone, and the others wait for it somewhere else.
bool all_ranks_agree_to_end();

// Ends the program on every rank at once, for a failure that the other ranks know nothing about.
// The message must have been written before.
[[noreturn]] void end_all_ranks(int exit_code);

}  // namespace octant
