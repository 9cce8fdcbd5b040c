// Whether the machine has the memory that a run will need: known before any of it is taken.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "core/memory.hpp"

namespace octant::driver {

// What this process has taken of the memory that runs short first: that of the GPU on which its
// kernels run, or else its resident memory.
MemoryUse scarce_memory_use();

// What the ranks of a node need, and what the node has: its own memory, or that of its GPUs.
struct NodeMemory {
  double needed, there;  // bytes
  int ranks, devices;    // devices: 0 where kernels run on cores
};

// Says that it does not suffice for `what`, and that a smaller `smaller` would need less; empty if
// it does.
std::string why_too_little(const NodeMemory& memory, const std::string& what,
                           const std::string& smaller);

// Refuses what does not fit: throws InputError on every rank if the ranks of any node need more
// than that node has. `rank_bytes` is the need of this rank; `what` names what needs it, and
// `smaller` the parameters that make it less. Collective.
void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller);

// What could not be allocated, in the words of who tried, which may be none. Nothing if it is
// another error than a lack of memory, on a host or on a GPU.
std::optional<std::string> missing_memory(const std::exception& error);

}  // namespace octant::driver
