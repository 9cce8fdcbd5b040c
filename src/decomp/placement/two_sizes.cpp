// Contiguous pieces by dynamic programming.
#include <algorithm>

#include "decomp/placement/checks.hpp"
#include "decomp/placement/contiguous.hpp"

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

}  // namespace

Owners two_sizes(Costs costs, int ranks) {
  check_input(costs, ranks);
  return owners_of(two_size_walls(costs, ranks));
}

Owners two_sizes_chunked(Costs costs, int ranks, int chunk_ranks) {
  Owners owners(costs.size());
  for (const Zone& chunk : zones(costs, ranks, chunk_ranks, 1)) {
    const Owners part = two_sizes(costs.subspan(chunk.first_block, chunk.blocks), chunk.ranks);
    std::transform(part.begin(), part.end(), owners.begin() + chunk.first_block,
                   [&](std::int32_t rank) { return rank + chunk.first_rank; });
  }
  return owners;
}

}  // namespace octant::placement
