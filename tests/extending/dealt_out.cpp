// Worked example of a placement policy (docs/extending.md): blocks are dealt out like cards, the
// dearest first, forth and back over the ranks.
#include <algorithm>
#include <numeric>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// No load exceeds another one by more than the dearest block. O(n log n).
Owners dealt_out(Costs costs, int ranks) {
  check_input(costs, ranks);
  std::vector<std::int32_t> by_cost(costs.size());
  std::iota(by_cost.begin(), by_cost.end(), 0);
  std::stable_sort(by_cost.begin(), by_cost.end(),
                   [&](std::int32_t a, std::int32_t b) { return costs[a] > costs[b]; });

  Owners owners(costs.size());
  for (std::size_t n = 0; n < by_cost.size(); ++n) {
    const auto round = n / ranks, place = n % ranks;
    owners[by_cost[n]] = static_cast<std::int32_t>(round % 2 == 0 ? place : ranks - 1 - place);
  }
  return owners;
}

}  // namespace octant::placement
