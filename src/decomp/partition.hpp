// Which rank shall own which block: the geometric decompositions.
//
// All of them see a block as a point, its centre, with a cost, so that a coarse block goes where
// its middle lies. The result is the same whatever rank holds which block beforehand, and no rank
// ever holds more than its own blocks and a bounded histogram; on a curve, the walls between the
// ranks too.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/curve_partition.hpp"
#include "decomp/ksection.hpp"
#include "decomp/partition_options.hpp"
#include "decomp/work.hpp"

namespace octant {

// The rank that shall own each of this rank's blocks, in the order of `local_blocks`. Collective. A
// rank that gets nothing is legal. Throws RunError on every rank if a cost is negative or not
// finite, or a block lies outside of the domain.
std::vector<int> partition(Decomposition decomposition, const Communicator& communicator,
                           const DomainShape& domain, std::span<const CostItem> local_blocks);

}  // namespace octant
