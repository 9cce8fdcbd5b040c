#include "decomp/placement/contiguous.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/unroll.hpp"
#include "decomp/placement/checks.hpp"
#include "decomp/placement/placement.hpp"

namespace octant::placement {

namespace {

constexpr int k_padding = 4;  // room for infinite sums beyond the last one

// Pieces that are taken one after the other, each as long as a limit allows.
class GreedyPieces {
 public:
  GreedyPieces(Costs costs, int ranks)
      : sums_(prefix_sums(costs)), blocks_(std::ssize(costs)), ranks_(ranks) {
    sums_.resize(sums_.size() + k_few, std::numeric_limits<double>::infinity());
  }

  double total() const { return sums_[blocks_]; }

  // What greedy pieces that are not heavier than a limit come to.
  struct Outcome {
    bool fits = false;      // all blocks into the pieces
    double largest = 0.0;   // piece
    double excess = 1e308;  // the least that some piece would weigh with one block more
  };

  // How many limits are tried at once: each is a chain of look-ups that wait for one another, so
  // that a processor follows several in the time of one.
  static constexpr int k_limits = 4;
  using Limits = std::array<double, k_limits>;

  // No piece is heavier than its limit, which is at least the largest cost.
  std::array<Outcome, k_limits> try_limits(const Limits& limits) const {
    std::array<Outcome, k_limits> outcomes;
    std::array<std::int64_t, k_limits> begin{};
    for (int rank = 0; rank < ranks_; ++rank) {
      OCTANT_UNROLL(4)  // keeps all of the outcomes in registers
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

  // The walls for a limit that fits; no piece is empty while there are blocks enough.
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

  static constexpr int k_few = k_padding;
  std::vector<double> sums_;  // and as many infinite ones as are compared at once
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

// A search between a bound from below and the largest piece of a partition that was found. Every
// trial moves one of the two to a weight that some piece really has, so that they meet in the
// optimum.
Walls exact_walls(Costs costs, int ranks) {
  check_input(costs, ranks);
  if (costs.empty()) return Walls(static_cast<std::size_t>(ranks) + 1, 0);
  const GreedyPieces pieces(costs, ranks);
  const double heaviest = *std::max_element(costs.begin(), costs.end());
  double lower = std::max(heaviest, pieces.total() / ranks);
  // Greedy pieces of mean + heaviest always fit: each but the last is at least the mean, whatever
  // the rounding of the sums with that little room.
  double upper = (pieces.total() / ranks + heaviest) * (1.0 + 1e-9);
  bool found = false;  // a partition whose largest piece is `upper`
  while (lower < upper) {
    // Limits inside the interval, and its upper end as long as it is not a piece's weight.
    GreedyPieces::Limits limits;
    const double part = (upper - lower) / (limits.size() + (found ? 1 : 0));
    for (std::size_t n = 0; n < limits.size(); ++n) limits[n] = lower + part * (n + 1);
    if (!found) limits.back() = upper;
    const auto outcomes = pieces.try_limits(limits);
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
    if (!moved) break;  // neighbouring numbers
  }
  return pieces.walls(upper);
}

Walls walls_within(Costs costs, int ranks, double limit) {
  return GreedyPieces(costs, ranks).walls(limit);
}

Owners exact(Costs costs, int ranks) { return owners_of(exact_walls(costs, ranks)); }

std::vector<Zone> zones(Costs costs, int ranks, int zone_ranks, int ranks_per_node) {
  check_ranks(ranks);
  const auto blocks = static_cast<std::int64_t>(costs.size());
  const int nodes = (ranks + ranks_per_node - 1) / ranks_per_node;
  const int nodes_per_zone = std::max(1, zone_ranks / ranks_per_node);
  const int count = (nodes + nodes_per_zone - 1) / nodes_per_zone;
  if (count == 1) return {{0, blocks, 0, ranks}};
  check_input(costs, ranks);
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
