// Memory bandwidth of the machine by the STREAM triad of McCalpin.
#pragma once

#include <cstdint>

#include "comm/communicator.hpp"

namespace octant::bench {

// Bytes per second of all ranks in a = b + s c, counting 24 bytes per element; the best of several
// passes. `elements` is the length of the arrays over all ranks and should make them much larger
// than all caches. Collective.
double triad_bytes_per_second(const Communicator& communicator,
                              std::int64_t elements = std::int64_t{1} << 24);

}  // namespace octant::bench
