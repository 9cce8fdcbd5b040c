// Starts and ends MPI and Kokkos: the first object of every main program. GPUs of a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/communicator.hpp"

namespace octant {

// Behaviour if kernels cannot run on the machine (why_no_device()).
enum class Kernels {
  needed,       // the program ends
  if_there_are  // the program continues without Kokkos, for tasks without kernels
};

// Initialises MPI and Kokkos for the lifetime of this object. At most one per process.
class Runtime {
 public:
  // Initialises a program of its own. MPI removes its own arguments from argv; Kokkos is configured
  // by environment variables only (KOKKOS_NUM_THREADS, KOKKOS_DEVICE_ID, ...).
  Runtime(int& argc, char**& argv, Kernels kernels = Kernels::needed);
  // Initialises for use inside another program. MPI is left running if it was initialised before.
  // The ranks are those of a communicator, given by its Fortran handle, or all. Throws InputError,
  // RunError.
  explicit Runtime(std::optional<int> fortran_communicator);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// Reason why this run cannot use kernels, and a remedy; empty if it can. The same on all ranks.
const std::string& why_no_kernels();
// Throws RunError with why_no_kernels(), unless that is empty. Collective.
void require_kernels();

// Must be called after an error. Returns true if all ranks have reached the same point within a few
// seconds. If not, only this rank has the error, and the other ranks are waiting elsewhere.
bool all_ranks_agree_to_end();

// Ends the program on every rank at once, for a failure of this rank alone. The message must have
// been written before.
[[noreturn]] void end_all_ranks(int exit_code);

// --- GPUs that kernels run on; there are none where kernels run on cores -------------------------

// Reason why kernels cannot run, and a remedy: no driver, an old driver, no GPU, or no GPU of the
// architecture for which kernels were compiled. Empty if kernels can run.
std::string why_no_device();

// GPU of a rank of a node, given the number of GPUs; surplus ranks share them.
constexpr int device_of(int rank_of_node, int devices) {
  return devices > 0 ? rank_of_node % devices : 0;
}
// GPU of a rank among those visible to the process; no value if Kokkos is to choose it.
std::optional<int> device_of(int rank_of_node);

// GPUs of the ranks of a node, of identical type.
struct Devices {
  int count = 0;
  std::string name;
  std::int64_t bytes_of_each = 0;

  // Memory of all these GPUs in bytes.
  double bytes() const { return static_cast<double>(count) * static_cast<double>(bytes_of_each); }
};
// Returns the GPUs of a node. Must be called after Kokkos is initialised. Collective over the node.
Devices devices_of(const Communicator& node);

}  // namespace octant
