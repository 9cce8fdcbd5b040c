// The place of every block in a file: files hold the blocks of a level in key order, whatever rank
// owns them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/morton.hpp"

namespace octant {

// How many of all ranks' keys are smaller than each of this rank's: the row of its block in a file
// in key order. Collective. Keys are those of one level, each on one rank only; in any order, and a
// rank may have none. At most 256 ranks do the counting, so that none holds more than about a 256th
// of all keys for it, nor any list of ranks that is longer. Throws RunError on every rank if a key
// is given twice.
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys);

// The same for blocks of several rows, counts[n] of the block keys[n]: the first row of each.
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys,
                                            std::span<const std::int64_t> counts);

}  // namespace octant
