// One label for the parts of a group that lie on several ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "subgrid/friends/copies.hpp"

namespace octant::subgrid::friends {

struct MergedLabels {
  std::vector<std::uint64_t> label;
  int rounds = 0;
};

// Bodies are a rank's own ones, and then copies of others' with their origins. `groups` are those
// among the bodies of this rank, as find_groups() gives them. Returns for each own body the
// smallest id in its group over all ranks, and the number of rounds.
//
// Parts of groups point at parts with smaller names, and every round shortens the ways: the
// algorithm FastSV for connected components (Zhang, Azad & Hu 2020, SIAM PP20, algorithm 3), whose
// rounds grow with the logarithm of the number of parts in a chain. Only parts with bodies on
// several ranks take part. Collective.
MergedLabels merge_labels(const Communicator& communicator, std::span<const int> groups,
                          std::span<const std::uint64_t> ids, std::span<const Origin> origins);

}  // namespace octant::subgrid::friends
