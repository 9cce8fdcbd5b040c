// What all policies expect of their input.
#pragma once

#include "core/error.hpp"
#include "decomp/placement/placement.hpp"

namespace octant::placement {

inline void check_ranks(int ranks) {
  if (ranks < 1) throw InputError("placement: {} ranks; there must be at least one", ranks);
}

inline void check_input(Costs costs, int ranks) {
  check_ranks(ranks);
  bool all_fine = true;  // a loop without exits, which is a fraction of the work
  for (const double cost : costs) all_fine &= cost > 0.0 && cost <= 1e300;
  if (all_fine) return;
  for (std::size_t n = 0; n < costs.size(); ++n)
    if (!(costs[n] > 0.0 && costs[n] <= 1e300))
      throw InputError("placement: block {} has the cost {}; costs are positive numbers", n,
                       costs[n]);
}

}  // namespace octant::placement
