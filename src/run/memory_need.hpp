// Comparison of required and available memory before allocation, and memory use by purpose.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "core/memory.hpp"

namespace octant {

// Memory use of this process where it is scarcest: on its GPU, or else its resident memory.
MemoryUse scarce_memory_use();

// Memory required by the ranks of a node and available there: its own memory, or that of its GPUs.
struct NodeMemory {
  double needed, there;  // required and available memory in bytes
  int ranks, devices;    // devices: 0 on CPUs
};

// Error message if the memory does not suffice for `what`; it suggests a smaller `smaller`. Empty
// if the memory suffices.
std::string why_too_little(const NodeMemory& memory, const std::string& what,
                           const std::string& smaller);

// Throws InputError on every rank if the ranks of any node need more memory than it has.
// `rank_bytes` is the need of this rank; `what` names the purpose, and `smaller` the parameters
// that reduce it. Collective.
void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller);

// Describes a failed allocation on a host or GPU in the words of the error, possibly empty. No
// value for other errors.
std::optional<std::string> missing_memory(const std::exception& error);

// Returns a table of the peak memory of ranks by purpose: minimum and maximum over ranks, and bytes
// of all ranks per cell of the `cells` cells of all ranks. Every line begins with `prefix`. Empty
// if nothing was counted. Collective.
std::string memory_table(const Communicator& communicator, double cells,
                         const std::string& prefix = "");

}  // namespace octant
