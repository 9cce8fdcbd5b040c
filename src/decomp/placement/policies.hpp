// Placement policies by name, for parameter files and benchmarks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// Names of the policies: "baseline", "exact", "lpt", "cdp", "cdp_general", "cdp_chunked", "cplx",
// "zonal" and "node".
std::vector<std::string> policy_names();

// Default of the maximum number of ranks per zone.
inline constexpr int k_zone_ranks = 4096;

// Policy and its parameters.
struct PolicyOptions {
  std::string name;
  double percent = 25.0;  // percentage of ranks that cplx and zonal rebalance
  int ranks_per_node = 1;
  int zone_ranks = k_zone_ranks;  // maximum ranks per zone; cdp_chunked: at most 512
  std::int64_t most_blocks = 0;   // memory limit of a rank; 0: none
};

// Blocks to place, along the curve. `leaves` is empty if positions are unknown.
struct BlockList {
  Costs costs;
  Leaves leaves = {};

  // Part of the list, from block `first` on.
  BlockList part(std::int64_t first, std::int64_t count) const {
    return {costs.subspan(first, count), leaves.empty() ? leaves : leaves.subspan(first, count)};
  }
  operator Costs() const { return costs; }  // sufficient for most policies
};

// Policy that places blocks on ranks within one zone.
using Policy = std::function<Owners(const BlockList&, int ranks)>;

// Throws InputError for an unknown name.
Policy policy_of(const PolicyOptions& options);

// Maximum number of ranks per zone of the policy: all ranks for most policies.
int most_zone_ranks(const PolicyOptions& options, int ranks);

// Returns the zones of the policy: one for most policies.
std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks);

// Applies a policy to each zone.
Owners zone_by_zone(const BlockList& blocks, std::span<const Zone> zones, const Policy& policy);

// Places blocks by a policy within its zones and the memory limit.
Owners place(const PolicyOptions& options, const BlockList& blocks, int ranks);

// Number of blocks for which each rank has memory.
using Capacity = std::vector<std::int64_t>;

// Moves the cheapest blocks of ranks above their limit to the nearest ranks with spare capacity.
// Throws InputError if the ranks cannot hold all blocks. O(n log n).
Owners within_capacity(Costs costs, Owners owners, const Capacity& capacity);

}  // namespace octant::placement
