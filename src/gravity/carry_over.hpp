// Takes stored values of blocks along when the mesh changes.
#pragma once

#include <vector>

#include "gravity/patches.hpp"

namespace octant::gravity {

// Values of one level's blocks on this rank, by slot of the mesh: `stride` doubles each.
struct StoredBlocks {
  std::vector<Key> keys;  // k_no_key where a slot is free
  DeviceArray<double> values;
};

// Copies the values of every block of `now` that some rank has in `before`. Returns by slot of
// `now` whether it is a new block. Collective.
std::vector<std::uint8_t> carry_over(const Communicator& communicator, std::int64_t stride,
                                     const StoredBlocks& before, const StoredBlocks& now,
                                     Exchanger& exchanger);

}  // namespace octant::gravity
