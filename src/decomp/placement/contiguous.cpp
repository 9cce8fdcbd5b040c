#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/compiler.hpp"
#include "decomp/placement/placement.hpp"
#include "decomp/placement/policies.hpp"

namespace octant::placement {

namespace {

constexpr int k_padding = 4;  // number of infinite sums after the last one

// Partition of the blocks into consecutive pieces, each as long as a limit on its load allows.
class GreedyPartition {
 public:
  GreedyPartition(Costs costs, int ranks)
      : sums_(prefix_sums(costs)), blocks_(std::ssize(costs)), ranks_(ranks) {
    sums_.resize(sums_.size() + k_linear_scan, std::numeric_limits<double>::infinity());
  }

  double total() const { return sums_[blocks_]; }

  // Result of a greedy partition whose pieces do not exceed a limit.
  struct Outcome {
    bool fits = false;      // true if the pieces contain all blocks
    double largest = 0.0;   // load of the largest piece
    double excess = 1e308;  // minimum load of a piece plus its next block
  };

  // Number of limits that are tried at once. Each trial is a chain of dependent look-ups, and a
  // processor executes several chains in the time of one.
  static constexpr int k_limits = 4;
  using Limits = std::array<double, k_limits>;

  // Tries several limits, each at least the largest cost.
  std::array<Outcome, k_limits> try_limits(const Limits& limits) const {
    std::array<Outcome, k_limits> outcomes;
    std::array<std::int64_t, k_limits> begin{};
    for (int rank = 0; rank < ranks_; ++rank) {
      OCTANT_UNROLL(4)  // keeps all outcomes in registers
      for (int n = 0; n < k_limits; ++n) {
        const std::int64_t end = piece_end(begin[n], limits[n]);
        const double before = sums_[begin[n]];
        outcomes[n].largest = std::max(outcomes[n].largest, sums_[end] - before);
        outcomes[n].excess = std::min(outcomes[n].excess, sums_[end + 1] - before);
        begin[n] = end;
      }
    }
    for (int n = 0; n < k_limits; ++n) outcomes[n].fits = begin[n] == blocks();
    return outcomes;
  }

  // Walls for a limit that fits; no piece is empty if there are enough blocks.
  Walls walls(double limit) const {
    Walls walls;
    walls.reserve(static_cast<std::size_t>(ranks_) + 1);
    walls.push_back(0);
    for (int rank = 0; rank < ranks_; ++rank) {
      const std::int64_t begin = walls.back();
      const std::int64_t leave = std::min<std::int64_t>(ranks_ - rank - 1, blocks() - begin);
      const std::int64_t longest = std::max(blocks() - leave, std::min(begin + 1, blocks()));
      walls.push_back(begin == blocks() ? begin : std::min(piece_end(begin, limit), longest));
    }
    return walls;
  }

 private:
  std::int64_t blocks() const { return blocks_; }

  // End of the longest piece from `begin` within the limit. Most pieces are short: a few sums are
  // compared at once, without branches; longer pieces continue with a galloping search.
  std::int64_t piece_end(std::int64_t begin, double limit) const {
    const double* sums = sums_.data() + begin;
    const double most = sums[0] + limit;
    int count = 0;
    for (int n = 1; n <= k_linear_scan; ++n) count += sums[n] <= most;
    if (count < k_linear_scan) return begin + count;
    std::int64_t end = k_linear_scan, step = 1;
    const std::int64_t remaining = blocks() - begin;
    while (end + step <= remaining && sums[end + step] <= most) {
      end += step;
      step *= 2;
    }
    for (; step > 0; step /= 2)
      if (end + step <= remaining && sums[end + step] <= most) end += step;
    return begin + end;
  }

  static constexpr int k_linear_scan = k_padding;  // sums compared before the galloping search
  std::vector<double> sums_;                       // followed by k_padding infinite sums
  std::int64_t blocks_;
  int ranks_;
};

}  // namespace

std::vector<double> prefix_sums(Costs costs) {
  std::vector<double> sums;
  sums.reserve(costs.size() + 1 + k_padding);
  sums.resize(costs.size() + 1, 0.0);
  for (std::size_t n = 0; n < costs.size(); ++n) sums[n + 1] = sums[n] + costs[n];
  return sums;
}

Owners owners_of(const Walls& walls) {
  Owners owners(static_cast<std::size_t>(walls.back()));
  for (std::size_t rank = 0; rank + 1 < walls.size(); ++rank)
    std::fill(owners.begin() + walls[rank], owners.begin() + walls[rank + 1],
              static_cast<std::int32_t>(rank));
  return owners;
}

Owners baseline(Costs costs, int ranks) {
  check_input(costs, ranks);
  const auto blocks = static_cast<std::int64_t>(costs.size());
  Walls walls;
  for (std::int64_t rank = 0; rank <= ranks; ++rank) walls.push_back(rank * blocks / ranks);
  return owners_of(walls);
}

// Bisection between a lower bound and the largest piece of the best partition so far. Every trial
// moves one of them to the load of an actual piece, so that they meet at the optimum.
Walls exact_walls(Costs costs, int ranks) {
  check_input(costs, ranks);
  if (costs.empty()) return Walls(static_cast<std::size_t>(ranks) + 1, 0);
  const GreedyPartition partition(costs, ranks);
  const double heaviest = *std::max_element(costs.begin(), costs.end());
  double lower = std::max(heaviest, partition.total() / ranks);
  // Greedy pieces of mean + heaviest always fit: each but the last is at least the mean, whatever
  // the rounding of the sums within this margin.
  double upper = (partition.total() / ranks + heaviest) * (1.0 + 1e-9);
  bool found = false;  // partition whose largest piece is `upper`
  while (lower < upper) {
    // Limits inside the interval, and its upper end until it is the load of a piece.
    GreedyPartition::Limits limits;
    const double part = (upper - lower) / static_cast<double>(limits.size() + (found ? 1 : 0));
    for (std::size_t n = 0; n < limits.size(); ++n)
      limits[n] = lower + part * static_cast<double>(n + 1);
    if (!found) limits.back() = upper;
    const auto outcomes = partition.try_limits(limits);
    bool moved = false;
    for (std::size_t n = 0; n < limits.size(); ++n) {
      if (outcomes[n].fits) {
        moved = moved || !found || outcomes[n].largest < upper;
        upper = found ? std::min(upper, outcomes[n].largest) : outcomes[n].largest;
        found = true;
        break;
      }
      // Rounding must not stall the search.
      const double next = std::max(outcomes[n].excess, std::nextafter(limits[n], upper));
      moved = moved || next > lower;
      lower = std::max(lower, next);
    }
    if (!moved) break;  // the interval ends at adjacent floating-point numbers
  }
  return partition.walls(upper);
}

Walls walls_within(Costs costs, int ranks, double limit) {
  return GreedyPartition(costs, ranks).walls(limit);
}

Owners exact(Costs costs, int ranks) { return owners_of(exact_walls(costs, ranks)); }

std::vector<Zone> zones_of_ranks(int ranks, int zone_ranks, int ranks_per_node) {
  check_ranks(ranks);
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  const int nodes_per_zone = std::max(1, zone_ranks / ranks_per_node);
  const int count = (nodes + nodes_per_zone - 1) / nodes_per_zone;
  const auto first_rank = [&](int zone) {
    const std::int64_t node = std::int64_t{zone} * nodes / count;
    return static_cast<int>(std::min<std::int64_t>(node * ranks_per_node, ranks));
  };
  std::vector<Zone> result;
  for (int zone = 0; zone < count; ++zone)
    result.push_back(
        {.first_rank = first_rank(zone), .ranks = first_rank(zone + 1) - first_rank(zone)});
  return result;
}

std::vector<Zone> zones(Costs costs, int ranks, int zone_ranks, int ranks_per_node) {
  const auto blocks = static_cast<std::int64_t>(costs.size());
  std::vector<Zone> result = zones_of_ranks(ranks, zone_ranks, ranks_per_node);
  if (result.size() == 1) return {{0, blocks, 0, ranks}};
  check_input(costs, ranks);
  const auto sums = prefix_sums(costs);
  const auto first_block = [&](int first_rank) {
    if (first_rank == ranks) return blocks;
    const double target = sums.back() * first_rank / ranks;
    const auto at = std::lower_bound(sums.begin(), sums.end(), target) - sums.begin();
    // Ranks on either side of the wall may be empty.
    const std::int64_t least = std::min<std::int64_t>(first_rank, blocks);
    const std::int64_t most = std::max<std::int64_t>(blocks - (ranks - first_rank), least);
    return std::clamp<std::int64_t>(at, least, most);
  };
  for (Zone& zone : result) {
    zone.first_block = first_block(zone.first_rank);
    zone.blocks = first_block(zone.first_rank + zone.ranks) - zone.first_block;
  }
  return result;
}

std::vector<double> loads(Costs costs, const Owners& owners, int ranks) {
  std::vector<double> sums(static_cast<std::size_t>(ranks), 0.0);
  for (std::size_t n = 0; n < costs.size(); ++n)
    sums[static_cast<std::size_t>(owners[n])] += costs[n];
  return sums;
}

double makespan_over_mean(Costs costs, const Owners& owners, int ranks) {
  const auto sums = loads(costs, owners, ranks);
  double total = 0.0;
  for (const double load : sums) total += load;
  return *std::max_element(sums.begin(), sums.end()) * ranks / total;
}

// Contiguous pieces by dynamic programming.

namespace {

// State (k, l) after k pieces, l of them large, with k * floor(n / r) + l blocks placed; its value
// is the smallest maximum load so far.
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

// Smallest maximum load of the first n blocks on k ranks: least(k, n) is the minimum over j of the
// larger one of least(k - 1, j) and the load of blocks j to n. The former grows with j, the latter
// shrinks, and their intersection moves up with n: one pass over j serves all n.
double smallest_largest_load(Costs costs, int ranks) {
  const auto sums = prefix_sums(costs);
  std::vector<double> before(sums), least(sums.size());  // for one rank: the sums themselves
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
