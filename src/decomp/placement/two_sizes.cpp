// Contiguous pieces by dynamic programming.
#include <algorithm>

#include "decomp/placement/checks.hpp"
#include "decomp/placement/contiguous.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::placement {

namespace {

// After k pieces, l of them large, k * floor(n / r) + l blocks are placed: the state is (k, l), and
// its value the smallest largest load so far.
Walls two_size_walls(Costs costs, int ranks) {
  const auto sums = prefix_sums(costs);
  const auto blocks = static_cast<std::int64_t>(costs.size());
  const std::int64_t small = blocks / ranks, large = blocks % ranks;
  const auto row = static_cast<std::size_t>(large) + 1;
  std::vector<double> least(row, 0.0);
  std::vector<bool> took_large(row * (static_cast<std::size_t>(ranks) + 1), false);
  for (std::int64_t k = 1; k <= ranks; ++k) {
    const std::int64_t first = std::max<std::int64_t>(0, large - (ranks - k));
    for (std::int64_t l = std::min(k, large); l >= first; --l) {
      const std::int64_t end = k * small + l;
      const auto with_piece = [&](double before, std::int64_t length) {
        return std::max(before, sums[end] - sums[end - length]);
      };
      const bool small_possible = l<k, large_possible = l> 0;
      const double a = small_possible ? with_piece(least[l], small) : 1e308;
      const double b = large_possible ? with_piece(least[l - 1], small + 1) : 1e308;
      took_large[static_cast<std::size_t>(k) * row + l] = b < a;
      least[l] = std::min(a, b);
    }
  }
  Walls walls(static_cast<std::size_t>(ranks) + 1);
  std::int64_t l = large;
  for (std::int64_t k = ranks; k > 0; --k) {
    walls[k] = k * small + l;
    if (took_large[static_cast<std::size_t>(k) * row + l]) --l;
  }
  return walls;
}

// The smallest largest load of the first n blocks on k ranks: least(k, n) is the smallest, over all
// j, of the larger one of least(k - 1, j) and the blocks from j to n. The former grows with j, the
// latter shrinks, and where they meet moves up with n: one pass over j serves all n.
double smallest_largest_load(Costs costs, int ranks) {
  const auto sums = prefix_sums(costs);
  std::vector<double> before(sums), least(sums.size());  // on one rank: the sums themselves
  for (int k = 2; k <= ranks; ++k) {
    std::size_t j = 0;
    for (std::size_t n = 0; n < sums.size(); ++n) {
      const auto with_wall = [&](std::size_t wall) {
        return std::max(before[wall], sums[n] - sums[wall]);
      };
      while (j < n && with_wall(j + 1) <= with_wall(j)) ++j;
      least[n] = with_wall(j);
    }
    std::swap(before, least);
  }
  return before.back();
}

}  // namespace

Owners any_sizes(Costs costs, int ranks) {
  check_input(costs, ranks);
  return owners_of(walls_within(costs, ranks, smallest_largest_load(costs, ranks)));
}

Owners two_sizes(Costs costs, int ranks) {
  check_input(costs, ranks);
  return owners_of(two_size_walls(costs, ranks));
}

Owners two_sizes_chunked(Costs costs, int ranks, int chunk_ranks) {
  return zone_by_zone({costs}, zones(costs, ranks, chunk_ranks, 1), two_sizes);
}

}  // namespace octant::placement
