// Worked example of a placement policy (docs/extending.md): the blocks, sorted by descending cost,
// are assigned to the ranks in serpentine order: 0 ... n - 1, n - 1 ... 0, and so on.
#include <algorithm>
#include <numeric>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

// No load exceeds another one by more than the most expensive block. O(n log n).
Owners serpentine(Costs costs, int ranks) {
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
