// Placement by planners: the first rank of each zone of ranks receives the costs of the blocks in a
// segment of the curve and applies one of the policies of placement/placement.hpp, which may assign
// several pieces of the curve to a rank. Most policies have one zone, with rank 0 as planner.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/partition.hpp"
#include "decomp/placement/policies.hpp"
#include "decomp/work.hpp"

namespace octant {

// Maximum number of ranks per planner.
inline constexpr int k_max_planned_ranks = 16'384;

// Names of the policies that require planners: those of placement/policies.hpp, and "auto".
const std::vector<std::string>& planned_policies();

// Policy for plan_placement().
struct PlacementChoice {
  std::string policy;
  double cplx_x = 25.0;  // percentage of rebalanced ranks, for cplx and zonal
  Curve curve = Curve::hilbert;
  int ranks_per_node = 1;
  int zone_ranks =
      placement::k_zone_ranks;  // maximum ranks per zone, for zonal, node and cdp_chunked
  // Communication time of the average rank in units of its time for blocks, for "auto".
  double communication = 0.0;
};

// Report of a plan.
struct PlacementReport {
  std::string policy;
  double cplx_x = 0.0;
  double makespan_before = 1.0, makespan_after = 1.0;  // maximum over mean load
  std::int64_t blocks_moved = 0;
  // Fractions of the bytes between neighbours of a zone that are sent between ranks, or nodes.
  double off_rank_share = 0.0, off_node_share = 0.0;
  std::int64_t duration_ns = 0;  // planning time of the slowest planner
};

// Result of plan_placement().
struct PlannedPlacement {
  std::vector<int> owners;  // owners of this rank's blocks, in their order
  PlacementReport report;
};

// Number of ranks for which this rank plans: those of its zone on the first rank of a zone, 0 on
// others.
int planned_ranks(const PlacementChoice& choice, const Communicator& communicator);

// Returns the owners of this rank's blocks. A planner receives 16 bytes per block of its zone, and
// zones have equal costs per rank. Blocks are ordered along a curve; the result does not depend on
// the present owners. `capacity`, if given, is the number of blocks for which each of the
// planned_ranks() has memory, empty if unlimited, and is reduced accordingly. Throws InputError for
// zones of more than k_max_planned_ranks ranks, and if blocks do not fit. Collective.
PlannedPlacement plan_placement(const PlacementChoice& choice, const Communicator& communicator,
                                const DomainShape& domain, std::span<const CostItem> local_blocks,
                                placement::Capacity* capacity = nullptr);

}  // namespace octant
