#include "decomp/placement/policies.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.hpp"

namespace octant::placement {

// Ranks with memory for a limited number of blocks.

namespace {

// Returns the nearest rank along the curve with spare capacity; the lower of two at equal distance.
std::int32_t nearest(const std::set<std::int32_t>& available, std::int32_t rank) {
  const auto above = available.lower_bound(rank);
  if (above == available.begin()) return *above;
  const auto below = std::prev(above);
  return above == available.end() || rank - *below <= *above - rank ? *below : *above;
}

}  // namespace

Owners within_capacity(Costs costs, Owners owners, const Capacity& capacity) {
  const auto total_capacity = std::accumulate(capacity.begin(), capacity.end(), std::int64_t{0});
  if (std::ssize(owners) > total_capacity)
    throw InputError(
        "placement: {} blocks do not fit on {} ranks with memory for {} in total; increase the "
        "memory limit or use more ranks",
        owners.size(), capacity.size(), total_capacity);
  Capacity left = capacity;  // negative for ranks with too many blocks
  for (const std::int32_t owner : owners) --left[owner];
  std::set<std::int32_t> available;
  for (std::int32_t rank = 0; rank < std::ssize(left); ++rank)
    if (left[rank] > 0) available.insert(rank);

  std::vector<std::int32_t> cheapest_first(owners.size());
  std::iota(cheapest_first.begin(), cheapest_first.end(), 0);
  std::stable_sort(cheapest_first.begin(), cheapest_first.end(),
                   [&](std::int32_t a, std::int32_t b) { return costs[a] < costs[b]; });
  for (const std::int32_t block : cheapest_first) {
    std::int32_t& owner = owners[block];
    if (left[owner] >= 0) continue;
    ++left[owner];
    owner = nearest(available, owner);
    if (--left[owner] == 0) available.erase(owner);
  }
  return owners;
}

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
  enum { whole, chunks, zones } parts = whole;  // parts of the ranks to which it is applied
};

constexpr NamedPolicy k_policies[] = {
    {"baseline", plain<baseline>},
    {"exact", plain<exact>},
    {"lpt", plain<longest_first>},
    {"cdp", plain<two_sizes>},
    {"cdp_general", plain<any_sizes>},
    {"cdp_chunked", chunked, NamedPolicy::chunks},
    {"cplx", extremes},
    {"zonal", extremes, NamedPolicy::zones},
    {"node", by_node, NamedPolicy::zones},
};

const NamedPolicy& policy_named(const std::string& name) {
  for (const NamedPolicy& policy : k_policies)
    if (name == policy.name) return policy;
  throw InputError("unknown placement policy \"{}\"; expected one of {}", name,
                   fmt::join(policy_names(), ", "));
}

}  // namespace

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const NamedPolicy& policy : k_policies) names.emplace_back(policy.name);
  return names;
}

Policy policy_of(const PolicyOptions& options) { return policy_named(options.name).make(options); }

int most_zone_ranks(const PolicyOptions& options, int ranks) {
  switch (policy_named(options.name).parts) {
    case NamedPolicy::whole: return ranks;
    case NamedPolicy::chunks: return std::min(options.zone_ranks, k_chunk_ranks);
    case NamedPolicy::zones: return options.zone_ranks;
  }
  return ranks;
}

std::vector<Zone> zones_of(const PolicyOptions& options, Costs costs, int ranks) {
  return zones(costs, ranks, most_zone_ranks(options, ranks), options.ranks_per_node);
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
  return within_capacity(blocks, std::move(owners), Capacity(ranks, options.most_blocks));
}

}  // namespace octant::placement
