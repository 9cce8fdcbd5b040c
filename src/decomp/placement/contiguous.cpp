#include "decomp/placement/contiguous.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "decomp/placement/checks.hpp"
#include "decomp/placement/placement.hpp"

namespace octant::placement {

namespace {

// Pieces that are taken one after the other, each as long as a limit allows.
class GreedyPieces {
 public:
  GreedyPieces(Costs costs, int ranks)
      : sums_(prefix_sums(costs)), blocks_(std::ssize(costs)), ranks_(ranks) {
    sums_.resize(sums_.size() + k_few, std::numeric_limits<double>::infinity());
  }

  double total() const { return sums_[blocks_]; }

  struct Outcome {
    bool fits;       // all blocks into the pieces
    double largest;  // piece
    double excess;   // the least that some piece would weigh with one block more
    double guess;    // of the least limit that fits, by how far the pieces reached
  };

  // No piece is heavier than `limit`, which is at least the largest cost.
  Outcome try_limit(double limit) const {
    Outcome outcome{false, 0.0, 1e308, limit};
    std::int64_t begin = 0;
    int rank = 0;
    for (; rank < ranks_ && begin < blocks(); ++rank) {
      const std::int64_t end = piece_end(begin, limit);
      outcome.largest = std::max(outcome.largest, sums_[end] - sums_[begin]);
      if (end < blocks()) outcome.excess = std::min(outcome.excess, sums_[end + 1] - sums_[begin]);
      begin = end;
    }
    outcome.fits = begin == blocks();
    outcome.guess = limit * (outcome.fits ? double(rank) / ranks_ : total() / sums_[begin]);
    return outcome;
  }

  // The walls for a limit that fits; no piece is empty while there are blocks enough.
  Walls walls(double limit) const {
    Walls walls{0};
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

  // The end of the longest piece from `begin` that is not heavier than the limit. Most pieces are
  // short: a few sums are compared at once, without branches; long pieces gallop on from there.
  std::int64_t piece_end(std::int64_t begin, double limit) const {
    const double* sums = sums_.data() + begin;
    const double most = sums[0] + limit;
    int few = 0;
    for (int n = 1; n <= k_few; ++n) few += sums[n] <= most;
    if (few < k_few) return begin + few;
    std::int64_t end = k_few, step = 1;
    const std::int64_t left = blocks() - begin;
    while (end + step <= left && sums[end + step] <= most) {
      end += step;
      step *= 2;
    }
    for (; step > 0; step /= 2)
      if (end + step <= left && sums[end + step] <= most) end += step;
    return begin + end;
  }

  static constexpr int k_few = 8;
  std::vector<double> sums_;  // and as many infinite ones as are compared at once
  std::int64_t blocks_;
  int ranks_;
};

}  // namespace

std::vector<double> prefix_sums(Costs costs) {
  std::vector<double> sums(costs.size() + 1, 0.0);
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

// A search between a bound from below and the largest piece of a partition that was found. Every
// trial moves one of the two to a weight that some piece really has, so that they meet in the
// optimum; trials in the middle alternate with ones where the last trial's reach points to.
Walls exact_walls(Costs costs, int ranks) {
  check_input(costs, ranks);
  if (costs.empty()) return Walls(static_cast<std::size_t>(ranks) + 1, 0);
  const GreedyPieces pieces(costs, ranks);
  const double heaviest = *std::max_element(costs.begin(), costs.end());
  double lower = std::max(heaviest, pieces.total() / ranks);
  // Greedy pieces of mean + heaviest always fit: each but the last is at least the mean.
  const auto first = pieces.try_limit(pieces.total() / ranks + heaviest);
  double upper = first.largest, guess = first.guess;
  for (bool use_guess = true; lower < upper; use_guess = !use_guess) {
    const bool inside = guess > lower && guess < upper;
    const double limit = use_guess && inside ? guess : 0.5 * (lower + upper);
    const auto outcome = pieces.try_limit(limit);
    guess = outcome.guess;
    if (!outcome.fits) {
      lower = std::max(outcome.excess, std::nextafter(limit, upper));  // rounding must not stall
    } else {
      if (outcome.largest >= upper) break;  // neighbouring numbers
      upper = outcome.largest;
    }
  }
  return pieces.walls(upper);
}

Owners exact(Costs costs, int ranks) { return owners_of(exact_walls(costs, ranks)); }

std::vector<Zone> zones(Costs costs, int ranks, int zone_ranks, int ranks_per_node) {
  check_input(costs, ranks);
  const auto blocks = static_cast<std::int64_t>(costs.size());
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  const int nodes_per_zone = std::max(1, zone_ranks / ranks_per_node);
  const int count = (nodes + nodes_per_zone - 1) / nodes_per_zone;
  const auto sums = prefix_sums(costs);
  std::vector<Zone> result;
  for (int zone = 0; zone < count; ++zone) {
    const auto first_rank = [&](int z) {
      const std::int64_t node = std::int64_t{z} * nodes / count;
      return static_cast<int>(std::min<std::int64_t>(node * ranks_per_node, ranks));
    };
    const auto first_block = [&](int z) {
      const double target = sums.back() * first_rank(z) / ranks;
      const auto at = std::lower_bound(sums.begin(), sums.end(), target) - sums.begin();
      // Ranks on neither side shall be empty.
      const std::int64_t least = std::min<std::int64_t>(first_rank(z), blocks);
      const std::int64_t most = std::max<std::int64_t>(blocks - (ranks - first_rank(z)), least);
      return z == count ? blocks : std::clamp<std::int64_t>(at, least, most);
    };
    result.push_back({first_block(zone), first_block(zone + 1) - first_block(zone),
                      first_rank(zone), first_rank(zone + 1) - first_rank(zone)});
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

}  // namespace octant::placement
