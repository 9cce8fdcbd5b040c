// Placement with the time and size of each zone.
#pragma once

#include <cstdint>

#include "decomp/placement/policies.hpp"

namespace octant::bench {

// Result of a placement whose zones are planned in sequence, as planners would do in parallel.
struct TimedPlacement {
  placement::Owners owners;
  double seconds = 0.0;               // thread CPU time of all zones, and of the division
  double slowest_zone_seconds = 0.0;  // thread CPU time of the slowest zone
  std::int64_t zones = 0;             // number of zones
  std::int64_t largest_zone_blocks = 0;
};

// Places blocks by a policy within its zones and the memory limit of the ranks.
TimedPlacement place_timed(const placement::PolicyOptions& options,
                           const placement::BlockList& blocks, int ranks);

}  // namespace octant::bench
