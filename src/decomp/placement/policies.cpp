#include "decomp/placement/policies.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace octant::placement {

namespace {

template <Owners (*policy)(Costs, int)>
Policy plain(const PolicyOptions&) {
  return policy;
}

Policy chunked(const PolicyOptions&) {
  return [](const BlockList& b, int r) { return two_sizes_chunked(b, r); };
}

Policy extremes(const PolicyOptions& options) {
  return [x = options.percent](const BlockList& b, int r) { return cplx(b, r, x); };
}

Policy by_node(const PolicyOptions& options) {
  return [n = options.ranks_per_node](const BlockList& b, int r) {
    return node_windows(b, r, n, b.leaves);
  };
}

struct NamedPolicy {
  const char* name;
  Policy (*make)(const PolicyOptions&);
  bool is_zonal = false;  // decides for zones of ranks, each by itself
};

constexpr NamedPolicy k_policies[] = {
    {"baseline", plain<baseline>},
    {"exact", plain<exact>},
    {"lpt", plain<longest_first>},
    {"cdp", plain<two_sizes>},
    {"cdp_general", plain<any_sizes>},
    {"cdp_chunked", chunked},
    {"cplx", extremes},
    {"zonal", extremes, true},
    {"node", by_node, true},
};

const NamedPolicy& policy_named(const std::string& name) {
  for (const NamedPolicy& policy : k_policies)
    if (name == policy.name) return policy;
  throw InputError("there is no placement policy \"{}\"; expected one of {}", name,
                   fmt::join(policy_names(), ", "));
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const NamedPolicy& policy : k_policies) names.emplace_back(policy.name);
  return names;
}

Policy policy_of(const PolicyOptions& options) { return policy_named(options.name).make(options); }

std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks) {
  const int most = policy_named(options.name).is_zonal ? options.zone_ranks : ranks;
  return zones(costs, ranks, most, options.ranks_per_node);
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
