// Ranks that have memory for a limited number of blocks.
#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::placement {

namespace {

// The rank with room that is nearest to another one along the curve; the lower one of two.
std::int32_t nearest(const std::set<std::int32_t>& with_room, std::int32_t rank) {
  const auto above = with_room.lower_bound(rank);
  if (above == with_room.begin()) return *above;
  const auto below = std::prev(above);
  return above == with_room.end() || rank - *below <= *above - rank ? *below : *above;
}

}  // namespace

Owners with_room(Costs costs, Owners owners, int ranks, std::int64_t most_blocks) {
  const auto blocks = static_cast<std::int64_t>(owners.size());
  if (blocks > most_blocks * ranks)
    throw InputError(
        "placement: {} blocks do not fit into {} ranks with memory for {} each; raise the limit "
        "of memory or take more ranks",
        blocks, ranks, most_blocks);
  std::vector<std::int64_t> count(static_cast<std::size_t>(ranks), 0);
  for (const std::int32_t owner : owners) ++count[owner];
  std::set<std::int32_t> with_room;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    if (count[rank] < most_blocks) with_room.insert(rank);

  std::vector<std::int32_t> cheapest_first(owners.size());
  std::iota(cheapest_first.begin(), cheapest_first.end(), 0);
  std::stable_sort(cheapest_first.begin(), cheapest_first.end(),
                   [&](std::int32_t a, std::int32_t b) { return costs[a] < costs[b]; });
  for (const std::int32_t block : cheapest_first) {
    std::int32_t& owner = owners[block];
    if (count[owner] <= most_blocks) continue;
    --count[owner];
    owner = nearest(with_room, owner);
    if (++count[owner] == most_blocks) with_room.erase(owner);
  }
  return owners;
}

}  // namespace octant::placement
