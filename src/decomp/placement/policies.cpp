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
  if (name == "cdp_chunked") return [](Costs c, int r) { return two_sizes_chunked(c, r); };
  if (name == "node")
    return [n = options.ranks_per_node](Costs c, int r) { return node_windows(c, r, n); };
  if (name == "cplx" || name == "zonal")
    return [x = options.percent](Costs c, int r) { return cplx(c, r, x); };
  throw InputError("there is no placement policy \"{}\"; expected one of {}", name,
                   fmt::join(policy_names(), ", "));
}

std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks) {
  const bool zonal = options.name == "zonal" || options.name == "node";
  return zones(costs, ranks, zonal ? options.zone_ranks : ranks, options.ranks_per_node);
}

Owners zone_by_zone(Costs costs, std::span<const Zone> zones, const Policy& policy) {
  Owners owners(costs.size());
  for (const Zone& zone : zones) {
    const Owners part = policy(costs.subspan(zone.first_block, zone.blocks), zone.ranks);
    std::transform(part.begin(), part.end(), owners.begin() + zone.first_block,
                   [&](std::int32_t rank) { return rank + zone.first_rank; });
  }
  return owners;
}

Owners place(const PolicyOptions& options, Costs costs, int ranks) {
  Owners owners = zone_by_zone(costs, zones_of(options, costs, ranks), policy_of(options));
  if (options.most_blocks == 0) return owners;
  return with_room(costs, std::move(owners), Room(ranks, options.most_blocks));
}

}  // namespace octant::placement
