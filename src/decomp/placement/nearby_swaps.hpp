// Exchanges single blocks between ranks that are close to each other on the curve.
#pragma once

#include <optional>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// Takes the peaks off a placement: ranks above a limit give a block to a rank on the same node or
// on one nearby, for a cheaper one. Where every rank has two blocks, no run of consecutive blocks
// can be as even as pairs chosen from everywhere; a few exchanges make up for that, and leave
// nearly all neighbours on their nodes.
class NearbySwaps {
 public:
  // Ranks are numbered along the curve, `ranks_per_node` to a node.
  NearbySwaps(Costs costs, const Owners& owners, int ranks, int ranks_per_node);

  // The owners after one exchange for each rank above `limit`, none of which leaves either side
  // above it; nothing if some rank finds no partner within a few nodes, or more than a 32nd of the
  // blocks would leave their nodes.
  std::optional<Owners> bring_below(double limit) const;

 private:
  Costs costs_;
  int ranks_, per_node_;
  std::vector<std::int64_t> first_;   // of each rank's blocks
  std::vector<std::int32_t> blocks_;  // by rank
  std::vector<double> load_;
};

}  // namespace octant::placement
