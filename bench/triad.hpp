// The memory bandwidth of the machine, as the triad of McCalpin's STREAM measures it.
#pragma once

#include <cstdint>

#include "comm/communicator.hpp"

namespace octant::bench {

// Bytes per second that all ranks together move in a = b + s c, counting 24 bytes per element; the
// best of several passes. `elements` is the length of the arrays over all ranks: it should make
// them much larger than all caches. Collective.
double triad_bytes_per_second(const Communicator& communicator,
                              std::int64_t elements = std::int64_t{1} << 24);

}  // namespace octant::bench
