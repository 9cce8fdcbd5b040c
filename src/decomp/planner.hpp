// Placement by a planner: one rank that sees the costs of all blocks and decides by one of the
// policies of placement/placement.hpp, which need not leave a rank with one piece of space.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/curve_partition.hpp"
#include "decomp/placement/policies.hpp"
#include "decomp/work.hpp"

namespace octant {

// The most ranks that one planner serves.
inline constexpr int k_most_planned_ranks = 16'384;

// The names of the policies that need a planner: those of placement/policies.hpp, and "auto".
const std::vector<std::string>& planned_policies();

struct PlacementChoice {
  std::string policy;
  double cplx_x = 25.0;  // for cplx and zonal
  Curve curve = Curve::hilbert;
  int ranks_per_node = 1;
  // For auto: how long the mean rank spends on messages to other ranks, in units of what it spends
  // on its blocks.
  double communication = 0.0;
};

struct PlacementReport {
  std::string policy;
  double cplx_x = 0.0;
  double makespan_before = 1.0, makespan_after = 1.0;  // the largest load over the mean one
  std::int64_t blocks_moved = 0;
  double off_rank_share = 0.0, off_node_share = 0.0;  // of the bytes between neighbours
  std::int64_t duration_ns = 0;                       // of the planning
};

struct PlannedPlacement {
  std::vector<int> owners;  // of the local blocks, in their order
  PlacementReport report;   // on rank 0
};

// Who shall own this rank's blocks. Rank 0 plans: it is sent 16 bytes per block of the run. Blocks
// are ordered along a curve; the result is the same whatever rank holds which block beforehand.
// `room`, where there is any on rank 0, says how many blocks each rank has memory for, and becomes
// what is left. Throws InputError for more than k_most_planned_ranks ranks, and where blocks do not fit.
// Collective.
PlannedPlacement plan_placement(const PlacementChoice& choice, const Communicator& communicator,
                                const DomainShape& domain, std::span<const CostItem> local_blocks,
                                placement::Room* room = nullptr);

}  // namespace octant
