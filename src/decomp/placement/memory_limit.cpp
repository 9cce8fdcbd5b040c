// Ranks that have memory for a limited number of blocks.
#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::placement {

namespace {

// The rank with room that is nearest to another one along the curve; the lower one of two.
std::int32_t nearest(const std::set<std::int32_t>& roomy, std::int32_t rank) {
  const auto above = roomy.lower_bound(rank);
  if (above == roomy.begin()) return *above;
  const auto below = std::prev(above);
  return above == roomy.end() || rank - *below <= *above - rank ? *below : *above;
}

}  // namespace

Owners with_room(Costs costs, Owners owners, const Room& room) {
  const auto all_room = std::accumulate(room.begin(), room.end(), std::int64_t{0});
  if (std::ssize(owners) > all_room)
    throw InputError(
        "placement: {} blocks do not fit into {} ranks with memory for {} together; raise the "
        "limit of memory or take more ranks",
        owners.size(), room.size(), all_room);
  Room left = room;  // less than nothing where a rank has too many
  for (const std::int32_t owner : owners) --left[owner];
  std::set<std::int32_t> roomy;
  for (std::int32_t rank = 0; rank < std::ssize(left); ++rank)
    if (left[rank] > 0) roomy.insert(rank);

  std::vector<std::int32_t> cheapest_first(owners.size());
  std::iota(cheapest_first.begin(), cheapest_first.end(), 0);
  std::stable_sort(cheapest_first.begin(), cheapest_first.end(),
                   [&](std::int32_t a, std::int32_t b) { return costs[a] < costs[b]; });
  for (const std::int32_t block : cheapest_first) {
    std::int32_t& owner = owners[block];
    if (left[owner] >= 0) continue;
    ++left[owner];
    owner = nearest(roomy, owner);
    if (--left[owner] == 0) roomy.erase(owner);
  }
  return owners;
}

}  // namespace octant::placement
