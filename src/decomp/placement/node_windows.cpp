// Placement policy with contiguous blocks on each node and free packing inside a node.
#include <algorithm>
#include <optional>
#include <utility>

#include "decomp/placement/locality.hpp"
#include "decomp/placement/placement.hpp"

namespace octant::placement {

namespace {

// Reduces load peaks: ranks above a limit exchange a block with a rank on the same or a nearby node
// for a cheaper one. With two blocks per rank, no run of consecutive blocks is as balanced as pairs
// chosen from everywhere; a few exchanges compensate, and leave nearly all neighbours on their
// nodes.
class NearbySwaps {
 public:
  // Ranks are numbered along the curve, with `ranks_per_node` per node.
  NearbySwaps(Costs costs, const Owners& owners, int ranks, int ranks_per_node);

  // Returns the owners after one exchange for each rank above `limit`, which leaves both sides
  // below it. No value if some rank finds no partner within a few nodes, or more than a 32nd of the
  // blocks would leave their nodes.
  std::optional<Owners> reduce_below(double limit) const;

 private:
  Costs costs_;
  int ranks_, per_node_;
  std::vector<std::int64_t> first_;   // first block of each rank
  std::vector<std::int32_t> blocks_;  // by rank
  std::vector<double> load_;
};

constexpr int k_farthest = 8;             // maximum distance of partners in nodes
constexpr int k_blocks_per_leaving = 32;  // one of this many blocks may leave its node

// Ranks and their blocks during exchanges. The number of blocks of a rank is constant.
struct Bins {
  Costs costs;
  const std::vector<std::int64_t>& first;
  std::vector<std::int32_t> blocks;
  std::vector<double> load;
  std::vector<std::pair<double, std::int64_t>> by_cost = {};  // working memory: a rank's blocks

  struct Swap {
    std::int64_t given = -1, taken = -1;  // indices in `blocks`
    int partner = -1;
    double larger = 0.0;  // larger load of the two after the exchange
  };

  // Replaces `best` by the exchange between blocks of `rank` and `partner` with the smallest larger
  // load of the two, if that is below best.larger. The best block for one of `rank` costs less by
  // about half the difference of the loads. O(k log k) for k blocks per rank.
  void consider(int rank, int partner, Swap& best) {
    by_cost.clear();
    for (std::int64_t other = first[partner]; other < first[partner + 1]; ++other)
      by_cost.emplace_back(costs[blocks[other]], other);
    std::sort(by_cost.begin(), by_cost.end());
    const double half = 0.5 * (load[rank] - load[partner]);
    for (std::int64_t mine = first[rank]; mine < first[rank + 1]; ++mine) {
      const double cost = costs[blocks[mine]];
      const auto try_other = [&](const std::pair<double, std::int64_t>& other) {
        const double gain = cost - other.first;
        const double larger = std::max(load[rank] - gain, load[partner] + gain);
        if (larger < best.larger) best = {mine, other.second, partner, larger};
      };
      const auto first_with = [&](double other) {
        return std::lower_bound(by_cost.begin(), by_cost.end(), std::pair(other, std::int64_t{0}));
      };
      const auto above = first_with(cost - half);
      if (above != by_cost.begin()) try_other(*first_with(std::prev(above)->first));
      if (above != by_cost.end()) try_other(*above);
    }
  }

  void apply(int rank, const Swap& swap) {
    const double gain = costs[blocks[swap.given]] - costs[blocks[swap.taken]];
    load[rank] -= gain;
    load[swap.partner] += gain;
    std::swap(blocks[swap.given], blocks[swap.taken]);
  }
};

}  // namespace

NearbySwaps::NearbySwaps(Costs costs, const Owners& owners, int ranks, int ranks_per_node)
    : costs_(costs),
      ranks_(ranks),
      per_node_(ranks_per_node),
      first_(static_cast<std::size_t>(ranks) + 1, 0),
      blocks_(costs.size()),
      load_(loads(costs, owners, ranks)) {
  for (const std::int32_t rank : owners) ++first_[rank + 1];
  for (int rank = 0; rank < ranks; ++rank) first_[rank + 1] += first_[rank];
  auto next = first_;
  for (std::size_t block = 0; block < owners.size(); ++block)
    blocks_[next[owners[block]]++] = static_cast<std::int32_t>(block);
}

std::optional<Owners> NearbySwaps::reduce_below(double limit) const {
  Bins bins{costs_, first_, blocks_, load_};
  const int nodes = (ranks_ + per_node_ - 1) / per_node_;
  std::int64_t remaining_departures = std::ssize(blocks_) / k_blocks_per_leaving;
  const auto consider_node = [&](int rank, int node, Bins::Swap& best) {
    if (node < 0 || node >= nodes) return;
    const int end = std::min((node + 1) * per_node_, ranks_);
    for (int partner = node * per_node_; partner < end; ++partner)
      if (partner != rank) bins.consider(rank, partner, best);
  };
  for (int rank = 0; rank < ranks_; ++rank) {
    if (bins.load[rank] <= limit) continue;
    const int node = rank / per_node_;
    Bins::Swap best;
    best.larger = limit;
    for (int far = 0; far <= k_farthest && best.partner < 0; ++far) {
      consider_node(rank, node - far, best);
      if (far > 0) consider_node(rank, node + far, best);
    }
    if (best.partner < 0) return std::nullopt;
    const bool leaves_node = best.partner / per_node_ != node;
    if (leaves_node) remaining_departures -= 2;
    if (leaves_node && remaining_departures < 0) return std::nullopt;
    bins.apply(rank, best);
  }
  Owners owners(blocks_.size());
  for (int rank = 0; rank < ranks_; ++rank)
    for (std::int64_t n = first_[rank]; n < first_[rank + 1]; ++n) owners[bins.blocks[n]] = rank;
  return owners;
}

namespace {

constexpr int k_window_guesses = 8;  // bisections of the maximum load
// Fraction of the maximum load that is equivalent to three per cent of the bytes between nodes.
// Exchanges of blocks add about as many bytes as window ends at seams save.
constexpr double k_worth = 1.0 / 64;

// Packs blocks into the ranks of one node.
class NodePacking {
 public:
  explicit NodePacking(int ranks) : capacity_(static_cast<std::size_t>(ranks)) {}

  // Sets the blocks of which pack() takes the first ones. Sorting them once serves all trials.
  void set_blocks(Costs costs) {
    order_.resize(costs.size());
    for (std::size_t n = 0; n < costs.size(); ++n) order_[n] = {costs[n], static_cast<int>(n)};
    std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
  }

  // Best-fit decreasing: the first `count` blocks by descending cost, each on the fullest rank with
  // spare capacity. Returns false if some block does not fit. Requires at least as many blocks
  // as ranks.
  bool pack(std::int64_t count, double limit) {
    std::fill(capacity_.begin(), capacity_.end(), limit);
    owner_.resize(static_cast<std::size_t>(count));
    for (const auto& [cost, block] : order_) {
      if (block >= count) continue;
      const int rank = best_fit_rank(cost);
      if (rank < 0) return false;
      capacity_[static_cast<std::size_t>(rank)] -= cost;
      owner_[static_cast<std::size_t>(block)] = rank;
    }
    return true;
  }

  // Moves cheap blocks from ranks with several to empty ranks, after pack() with all blocks.
  void fill_empty_ranks() {
    std::vector<int> count(capacity_.size(), 0);
    for (const int rank : owner_) ++count[static_cast<std::size_t>(rank)];
    std::size_t next = order_.size();
    for (std::size_t rank = 0; rank < count.size(); ++rank) {
      while (count[rank] == 0 && next > 0) {
        int& owner = owner_[static_cast<std::size_t>(order_[--next].second)];
        if (count[static_cast<std::size_t>(owner)] < 2) continue;
        --count[static_cast<std::size_t>(owner)];
        ++count[rank];
        owner = static_cast<int>(rank);
      }
    }
  }

  const std::vector<int>& owner() const { return owner_; }

 private:
  int best_fit_rank(double cost) const {
    int best = -1;
    for (std::size_t rank = 0; rank < capacity_.size(); ++rank)
      if (capacity_[rank] >= cost &&
          (best < 0 || capacity_[rank] < capacity_[static_cast<std::size_t>(best)]))
        best = static_cast<int>(rank);
    return best;
  }

  std::vector<double> capacity_;
  std::vector<std::pair<double, int>> order_;  // costs and blocks, by descending cost
  std::vector<int> owner_;
};

// Walls between the blocks of nodes.
class NodeWindows {
 public:
  NodeWindows(Costs costs, int ranks, int ranks_per_node)
      : costs_(costs), sums_(prefix_sums(costs)), ranks_(ranks), per_node_(ranks_per_node) {}

  // Returns the walls of the longest windows for a maximum load, if all blocks fit.
  std::optional<Walls> longest_windows(double limit) const {
    return windows(limit, [](int, std::int64_t, std::int64_t longest) { return longest; });
  }

  // Returns walls with few bytes across. Each leaves at most the average load per node to the rest,
  // so that the rest fits, too. If this fails, no wall lies before that of `tight`, walls of a
  // smaller limit.
  std::optional<Walls> windows_on_seams(double limit, const Walls& tight, Leaves leaves) const {
    const auto on_seams = [&](const auto& earliest) {
      return windows(limit, [&](int node, std::int64_t begin, std::int64_t longest) {
        const std::int64_t least = std::max(earliest(node + 1), begin + ranks_of(node));
        return longest < blocks() ? seam(leaves, begin, least, longest) : longest;
      });
    };
    auto found = on_seams([&](int node) {
      const double share = sums_.back() * node * per_node_ / ranks_;
      return std::lower_bound(sums_.begin(), sums_.end(), share) - sums_.begin();
    });
    return found ? found : on_seams([&](int node) { return tight[node]; });
  }

  // Returns the owners for walls that were computed with this limit.
  Owners owners(const Walls& walls, double limit) const {
    Owners owners(costs_.size());
    for (int node = 0; node + 1 < std::ssize(walls); ++node) {
      NodePacking packing(ranks_of(node));
      packing.set_blocks(between(walls[node], walls[node + 1]));
      packing.pack(walls[node + 1] - walls[node], limit);
      packing.fill_empty_ranks();
      std::transform(packing.owner().begin(), packing.owner().end(), owners.begin() + walls[node],
                     [&](int rank) { return node * per_node_ + rank; });
    }
    return owners;
  }

 private:
  std::int64_t blocks() const { return static_cast<std::int64_t>(costs_.size()); }
  int ranks_of(int node) const { return std::min(per_node_, ranks_ - node * per_node_); }

  // Returns walls of windows that end at end(node, begin, longest), or at `longest` if that window
  // cannot be packed.
  template <class End>
  std::optional<Walls> windows(double limit, const End& end) const {
    Walls walls{0};
    for (int node = 0; node * per_node_ < ranks_; ++node) {
      const std::int64_t begin = walls.back();
      NodePacking packing(ranks_of(node));
      const std::int64_t longest = longest_window(begin, node, limit, packing);
      if (longest < 0) return std::nullopt;
      const std::int64_t chosen = end(node, begin, longest);
      const bool fits = chosen == longest || packing.pack(chosen - begin, limit);
      walls.push_back(fits ? chosen : longest);
    }
    if (walls.back() != blocks()) return std::nullopt;
    return walls;
  }

  Costs between(std::int64_t begin, std::int64_t end) const {
    return costs_.subspan(begin, end - begin);
  }

  // Returns the end of the longest run of blocks that can be packed; -1 if there is none. Sets the
  // blocks of `packing` to a run from `begin` that contains it. Longer runs are generally harder to
  // pack, so bisection is followed by a test of the next longer ones.
  std::int64_t longest_window(std::int64_t begin, int node, double limit,
                              NodePacking& packing) const {
    const auto packs = [&](std::int64_t end) { return packing.pack(end - begin, limit); };
    const double most = sums_[begin] + ranks_of(node) * limit;
    const auto past = std::upper_bound(sums_.begin() + begin, sums_.end(), most);
    // Leaves at least one block for each of the remaining ranks.
    const int ranks_so_far = node * per_node_ + ranks_of(node);
    const std::int64_t longest =
        std::min<std::int64_t>(past - sums_.begin() - 1, blocks() - (ranks_ - ranks_so_far));
    packing.set_blocks(between(begin, std::max(begin, longest)));
    std::int64_t packed = begin, too_long = longest + 1;
    while (too_long - packed > 1) {
      const std::int64_t middle = (packed + too_long) / 2;
      (packs(middle) ? packed : too_long) = middle;
    }
    constexpr int k_looks = 2;
    for (std::int64_t end = std::min(longest, packed + k_looks); end > packed; --end)
      if (packs(end)) return end;
    return packed > begin ? packed : -1;
  }

  // Returns the best end between `least` and `most` for a window that starts at `begin`: the one
  // with the fewest bytes between the window and the same number of blocks behind it.
  std::int64_t seam(Leaves leaves, std::int64_t begin, std::int64_t least,
                    std::int64_t most) const {
    const std::int64_t behind = std::min(blocks(), 2 * most - begin);
    const auto bytes = [&](std::int64_t block, std::int64_t first, std::int64_t last) {
      std::int64_t sum = 0;
      for (std::int64_t n = first; n < last; ++n) sum += bytes_between(leaves[block], leaves[n]);
      return sum;
    };
    std::int64_t best = most, growth = 0, min_growth = 0;
    for (std::int64_t end = most - 1; end >= least; --end) {
      growth += bytes(end, begin, end) - bytes(end, end + 1, behind);
      if (growth >= min_growth) continue;
      min_growth = growth;
      best = end;
    }
    return best;
  }

  Costs costs_;
  std::vector<double> sums_;
  int ranks_, per_node_;
};

// Bisects for the smallest limit between `least` and `most` for which owners_below(limit) succeeds;
// returns its owners, or no value if no trial succeeds.
template <class OwnersBelow>
std::optional<Owners> bisected(Costs costs, int ranks, double least, double most,
                               const OwnersBelow& owners_below) {
  std::optional<Owners> best;
  const double mean = prefix_sums(costs).back() / ranks;
  for (int n = 0; n < k_window_guesses && least < most; ++n) {
    const double limit = 0.5 * (least + most);
    if (auto owners = owners_below(limit)) {
      most = std::min(limit, makespan_over_mean(costs, *owners, ranks) * mean);
      best = std::move(owners);
    } else {
      least = limit;
    }
  }
  return best;
}

}  // namespace

Owners node_windows(Costs costs, int ranks, int ranks_per_node, Leaves leaves) {
  check_input(costs, ranks);
  if (ranks_per_node < 1)
    throw InputError("placement: expected at least one rank per node, found {}", ranks_per_node);
  Owners contiguous = owners_of(exact_walls(costs, ranks));
  if (std::ssize(costs) <= ranks) return contiguous;
  const auto largest = [&](const Owners& owners) {
    const auto sums = loads(costs, owners, ranks);
    return *std::max_element(sums.begin(), sums.end());
  };
  const double mean = prefix_sums(costs).back() / ranks;
  const double least = std::max(mean, *std::max_element(costs.begin(), costs.end()));

  const NodeWindows windows(costs, ranks, ranks_per_node);
  Walls walls;
  const auto packed = bisected(costs, ranks, least, largest(contiguous), [&](double limit) {
    auto found = windows.longest_windows(limit);
    if (!found) return std::optional<Owners>();
    walls = std::move(*found);
    return std::optional(windows.owners(walls, limit));
  });
  const Owners& best = packed ? *packed : contiguous;
  const double load = largest(best);

  const NearbySwaps swaps(costs, best, ranks, ranks_per_node);
  if (auto swapped = bisected(costs, ranks, least, load,
                              [&](double limit) { return swaps.reduce_below(limit); }))
    if (largest(*swapped) <= load * (1.0 - k_worth)) return *swapped;
  if (packed && !leaves.empty()) {
    const double limit = load * (1.0 + k_worth);
    if (const auto seams = windows.windows_on_seams(limit, walls, leaves))
      return windows.owners(*seams, limit);
  }
  return best;
}

}  // namespace octant::placement
