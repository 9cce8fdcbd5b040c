// The policies by their names, for parameter files and benchmarks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// "baseline", "exact", "lpt", "cdp", "cdp_general", "cdp_chunked", "cplx", "zonal" and "node".
std::vector<std::string> policy_names();

struct PolicyOptions {
  std::string name;
  double percent = 25.0;  // of the ranks, that cplx and zonal rebalance
  int ranks_per_node = 1;
  int zone_ranks = 4096;         // most ranks in a zone, for zonal and node
  std::int64_t most_blocks = 0;  // that a rank has memory for; 0: any number
};

// What there is to place, along the curve. Where leaves are not known there are none.
struct BlockList {
  Costs costs;
  Leaves leaves = {};

  BlockList part(std::int64_t first, std::int64_t count) const {
    return {costs.subspan(first, count), leaves.empty() ? leaves : leaves.subspan(first, count)};
  }
  operator Costs() const { return costs; }  // all that most policies look at
};

// Places blocks on ranks, in one zone.
using Policy = std::function<Owners(const BlockList&, int ranks)>;

// Throws InputError for a name that no policy has.
Policy policy_of(const PolicyOptions& options);

// The zones that the policy works in: one for most.
std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks);

// Applies a policy to each zone.
Owners zone_by_zone(const BlockList& blocks, std::span<const Zone> zones, const Policy& policy);

// All of it: zones, policy, and the limit of memory.
Owners place(const PolicyOptions& options, const BlockList& blocks, int ranks);

// How many blocks each rank has memory for.
using Room = std::vector<std::int64_t>;

// No rank keeps more blocks than it has room for: those with more give their cheapest ones to the
// nearest ranks with room. Throws InputError if the ranks cannot hold all blocks. O(n log n).
Owners with_room(Costs costs, Owners owners, const Room& room);

}  // namespace octant::placement
