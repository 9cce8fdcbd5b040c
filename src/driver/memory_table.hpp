// What a run's memory is used for, as its log and octant check tell it.
#pragma once

#include <string>

#include "comm/communicator.hpp"

namespace octant::driver {

// A table of the memory of ranks by purpose, of each when it held most: the least and the most of
// any rank, and bytes of all ranks per cell of `cells`, of all ranks. Every line begins with
// `prefix`. Empty where nothing was counted. Collective.
std::string memory_table(const Communicator& communicator, double cells,
                         const std::string& prefix = "");

}  // namespace octant::driver
