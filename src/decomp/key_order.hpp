// File positions of blocks: files store the blocks of a level in key order, independent of the
// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/morton.hpp"

namespace octant {

// Number of keys on all ranks that are smaller than each of this rank's keys: the row of its block
// in a file in key order. Collective. Keys are those of one level, each on one rank only, in any
// order; a rank may have none. At most 256 ranks count, so that none holds more than about a 256th
// of all keys for it, nor any longer list of ranks. Throws RunError on every rank for duplicate
// keys.
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys);

// First row of each block for blocks of several rows, counts[n] for keys[n].
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys,
                                            std::span<const std::int64_t> counts);

}  // namespace octant
