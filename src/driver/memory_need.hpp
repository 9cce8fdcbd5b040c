// Whether the machine has the memory that a run will need: known before any of it is taken.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "core/memory.hpp"

namespace octant::driver {

// What this process has taken of the memory that runs short first: that of the GPU on which its
// kernels run, or else its resident memory.
MemoryUse scarce_memory_use();

// Refuses what does not fit: throws InputError on every rank if the ranks of any node need more
// than that node has. `rank_bytes` is the need of this rank; `what` names what needs it, and
// `smaller` the parameters that make it less. Collective.
void require_memory(const Communicator& communicator, double rank_bytes, const std::string& what,
                    const std::string& smaller);

}  // namespace octant::driver
