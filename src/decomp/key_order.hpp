// File positions of blocks: files store the blocks of a level in key order, independent of the
// ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/morton.hpp"

namespace octant {

// Returns, for each of this rank's keys, the number of smaller keys on all ranks: the row of the
// block in a file in key order. Keys are those of one level, each on one rank only, in any order; a
// rank may have none. At most 256 ranks count keys, each about the same number, so that the list of
// their key ranges is short. Throws RunError on every rank for duplicate keys. Collective.
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys);

// Returns the first row of each block if the block keys[n] has counts[n] rows. Collective.
std::vector<std::int64_t> rows_in_key_order(const Communicator& communicator,
                                            std::span<const Key> keys,
                                            std::span<const std::int64_t> counts);

}  // namespace octant
