#include "decomp/placement/policies.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::placement {

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> k_names{
      "baseline", "exact", "lpt", "cdp", "cdp_general", "cdp_chunked", "cplx", "zonal", "node"};
  return k_names;
}

Policy policy_of(const PolicyOptions& options) {
  const std::string& name = options.name;
  if (name == "baseline") return baseline;
  if (name == "exact") return exact;
  if (name == "lpt") return longest_first;
  if (name == "cdp") return two_sizes;
  if (name == "cdp_general") return any_sizes;
  if (name == "cdp_chunked")
    return [](const BlockList& b, int r) { return two_sizes_chunked(b, r); };
  if (name == "node")
    return [n = options.ranks_per_node](const BlockList& b, int r) {
      return node_windows(b, r, n, b.leaves);
    };
  if (name == "cplx" || name == "zonal")
    return [x = options.percent](const BlockList& b, int r) { return cplx(b, r, x); };
  throw InputError("there is no placement policy \"{}\"; expected one of {}", name,
                   fmt::join(policy_names(), ", "));
}

std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks) {
  const bool zonal = options.name == "zonal" || options.name == "node";
  return zones(costs, ranks, zonal ? options.zone_ranks : ranks, options.ranks_per_node);
}

Owners zone_by_zone(const BlockList& blocks, std::span<const Zone> zones, const Policy& policy) {
  if (zones.size() == 1) return policy(blocks, zones.front().ranks);
  Owners owners(blocks.costs.size());
  for (const Zone& zone : zones) {
    const Owners part = policy(blocks.part(zone.first_block, zone.blocks), zone.ranks);
    std::transform(part.begin(), part.end(), owners.begin() + zone.first_block,
                   [&](std::int32_t rank) { return rank + zone.first_rank; });
  }
  return owners;
}

Owners place(const PolicyOptions& options, const BlockList& blocks, int ranks) {
  Owners owners = zone_by_zone(blocks, zones_of(options, blocks, ranks), policy_of(options));
  if (options.most_blocks == 0) return owners;
  return with_room(blocks, std::move(owners), Room(ranks, options.most_blocks));
}

}  // namespace octant::placement
