// Blocks contiguous by node, and packed freely inside it.
#include <algorithm>
#include <optional>

#include "decomp/placement/checks.hpp"
#include "decomp/placement/contiguous.hpp"
#include "decomp/placement/locality.hpp"
#include "decomp/placement/nearby_swaps.hpp"

namespace octant::placement {

namespace {

constexpr int k_window_guesses = 8;  // of the largest load, by bisection
// Of the largest load: what three per cent of the bytes between nodes are worth. Swaps add as many,
// walls where few bytes cross save as many.
constexpr double k_worth = 1.0 / 64;

// Packs blocks into the ranks of one node.
class NodePacking {
 public:
  explicit NodePacking(int ranks) : room_(static_cast<std::size_t>(ranks)) {}

  // Best-fit decreasing: the dearest block first, each into the fullest rank that still takes it.
  // False if some block finds no room. Blocks must number at least the ranks.
  bool pack(Costs costs, double limit) {
    order_.resize(costs.size());
    for (std::size_t n = 0; n < costs.size(); ++n) order_[n] = {costs[n], static_cast<int>(n)};
    std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    std::fill(room_.begin(), room_.end(), limit);
    owner_.resize(costs.size());
    for (const auto& [cost, block] : order_) {
      const int rank = fullest_that_takes(cost);
      if (rank < 0) return false;
      room_[static_cast<std::size_t>(rank)] -= cost;
      owner_[static_cast<std::size_t>(block)] = rank;
    }
    return true;
  }

  // Deals the packed blocks out so that no rank stays empty: an empty one takes the cheapest block
  // of a rank with several.
  void fill_empty_ranks() {
    std::vector<int> count(room_.size(), 0);
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
  int fullest_that_takes(double cost) const {
    int best = -1;
    for (std::size_t rank = 0; rank < room_.size(); ++rank)
      if (room_[rank] >= cost && (best < 0 || room_[rank] < room_[static_cast<std::size_t>(best)]))
        best = static_cast<int>(rank);
    return best;
  }

  std::vector<double> room_;
  std::vector<std::pair<double, int>> order_;
  std::vector<int> owner_;
};

// Walls between the blocks of nodes.
class NodeWindows {
 public:
  NodeWindows(Costs costs, int ranks, int ranks_per_node)
      : costs_(costs), sums_(prefix_sums(costs)), ranks_(ranks), per_node_(ranks_per_node) {}

  // The walls of the longest windows that a largest load allows, if all blocks fit.
  std::optional<Walls> longest_windows(double limit) const {
    return windows(limit, [](int, std::int64_t, std::int64_t longest) { return longest; });
  }

  // Walls where few bytes cross. None leaves more than its share of the load behind it, so that the
  // rest will fit as well; where that does not suffice, none lies before that of `tight`, walls of
  // a smaller limit.
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

  // The owners with these walls; the limit is one that they were made for.
  Owners owners(const Walls& walls, double limit) const {
    Owners owners(costs_.size());
    for (int node = 0; node + 1 < std::ssize(walls); ++node) {
      NodePacking packing(ranks_of(node));
      packing.pack(costs_.subspan(walls[node], walls[node + 1] - walls[node]), limit);
      packing.fill_empty_ranks();
      std::transform(packing.owner().begin(), packing.owner().end(), owners.begin() + walls[node],
                     [&](int rank) { return node * per_node_ + rank; });
    }
    return owners;
  }

 private:
  std::int64_t blocks() const { return static_cast<std::int64_t>(costs_.size()); }
  int ranks_of(int node) const { return std::min(per_node_, ranks_ - node * per_node_); }

  // Walls of windows, each of which ends where end(node, begin, longest) says, or as late as it can
  // if that one cannot be packed.
  template <class End>
  std::optional<Walls> windows(double limit, const End& end) const {
    Walls walls{0};
    for (int node = 0; node * per_node_ < ranks_; ++node) {
      const std::int64_t begin = walls.back();
      NodePacking packing(ranks_of(node));
      const std::int64_t longest = longest_window(begin, node, limit, packing);
      if (longest < 0) return std::nullopt;
      const std::int64_t chosen = end(node, begin, longest);
      const bool fits = chosen == longest || packing.pack(between(begin, chosen), limit);
      walls.push_back(fits ? chosen : longest);
    }
    if (walls.back() != blocks()) return std::nullopt;
    return walls;
  }

  Costs between(std::int64_t begin, std::int64_t end) const {
    return costs_.subspan(begin, end - begin);
  }

  // The end of the longest run of blocks that can be packed; -1 if there is none. Longer runs are
  // harder to pack, by and large: bisection, then a look at the next longer ones.
  std::int64_t longest_window(std::int64_t begin, int node, double limit,
                              NodePacking& packing) const {
    const auto packs = [&](std::int64_t end) { return packing.pack(between(begin, end), limit); };
    const double most = sums_[begin] + ranks_of(node) * limit;
    const auto past = std::upper_bound(sums_.begin() + begin, sums_.end(), most);
    // Each rank that follows needs a block.
    const int ranks_so_far = node * per_node_ + ranks_of(node);
    const std::int64_t longest =
        std::min<std::int64_t>(past - sums_.begin() - 1, blocks() - (ranks_ - ranks_so_far));
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

  // Where between `least` and `most` a window that begins at `begin` had best end: the fewest bytes
  // between it and as many blocks behind it.
  std::int64_t seam(Leaves leaves, std::int64_t begin, std::int64_t least,
                    std::int64_t most) const {
    const std::int64_t behind = std::min(blocks(), 2 * most - begin);
    const auto bytes = [&](std::int64_t block, std::int64_t first, std::int64_t last) {
      std::int64_t sum = 0;
      for (std::int64_t n = first; n < last; ++n) sum += bytes_between(leaves[block], leaves[n]);
      return sum;
    };
    std::int64_t best = most, growth = 0, least_growth = 0;
    for (std::int64_t end = most - 1; end >= least; --end) {
      growth += bytes(end, begin, end) - bytes(end, end + 1, behind);
      if (growth >= least_growth) continue;
      least_growth = growth;
      best = end;
    }
    return best;
  }

  Costs costs_;
  std::vector<double> sums_;
  int ranks_, per_node_;
};

// Bisects for the smallest limit between `least` and `most` for which owners_below(limit) finds
// some, and returns those; nothing if no guess does.
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
    throw InputError("placement: {} ranks per node; there must be at least one", ranks_per_node);
  const Owners contiguous = owners_of(exact_walls(costs, ranks));
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
                              [&](double limit) { return swaps.bring_below(limit); }))
    if (largest(*swapped) <= load * (1.0 - k_worth)) return *swapped;
  if (packed && !leaves.empty()) {
    const double limit = load * (1.0 + k_worth);
    if (const auto seams = windows.windows_on_seams(limit, walls, leaves))
      return windows.owners(*seams, limit);
  }
  return best;
}

}  // namespace octant::placement
