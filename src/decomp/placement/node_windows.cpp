// Blocks contiguous by node, and packed freely inside it.
#include <algorithm>
#include <optional>

#include "decomp/placement/checks.hpp"
#include "decomp/placement/contiguous.hpp"
#include "decomp/placement/nearby_swaps.hpp"

namespace octant::placement {

namespace {

constexpr int k_guesses = 8;  // of the largest load, by bisection

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

class NodeWindows {
 public:
  NodeWindows(Costs costs, int ranks, int ranks_per_node)
      : costs_(costs), sums_(prefix_sums(costs)), ranks_(ranks), per_node_(ranks_per_node) {}

  // The owners for a largest load, if blocks fit.
  std::optional<Owners> try_limit(double limit) const {
    Owners owners(costs_.size());
    std::int64_t begin = 0;
    for (int first = 0; first < ranks_; first += per_node_) {
      const int ranks = std::min(per_node_, ranks_ - first);
      NodePacking packing(ranks);
      const std::int64_t end = longest_window(begin, first + ranks, ranks * limit, limit, packing);
      if (end < 0) return std::nullopt;
      packing.fill_empty_ranks();
      for (std::int64_t n = begin; n < end; ++n)
        owners[n] = first + packing.owner()[static_cast<std::size_t>(n - begin)];
      begin = end;
    }
    if (begin != blocks()) return std::nullopt;
    return owners;
  }

 private:
  std::int64_t blocks() const { return static_cast<std::int64_t>(costs_.size()); }

  // The end of the longest run of blocks that can be packed, with the packing; -1 if there is none.
  // Longer runs are harder to pack, by and large: bisection, then a look at the next longer ones.
  std::int64_t longest_window(std::int64_t begin, int ranks_so_far, double capacity, double limit,
                              NodePacking& packing) const {
    const auto packs = [&](std::int64_t end) {
      return packing.pack(costs_.subspan(begin, end - begin), limit);
    };
    const auto past = std::upper_bound(sums_.begin() + begin, sums_.end(), sums_[begin] + capacity);
    // Each rank that follows needs a block.
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
    return packed > begin && packs(packed) ? packed : -1;
  }

  Costs costs_;
  std::vector<double> sums_;
  int ranks_, per_node_;
};

}  // namespace

Owners node_windows(Costs costs, int ranks, int ranks_per_node) {
  check_input(costs, ranks);
  if (ranks_per_node < 1)
    throw InputError("placement: {} ranks per node; there must be at least one", ranks_per_node);
  const Walls walls = exact_walls(costs, ranks);
  Owners best = owners_of(walls);
  if (std::ssize(costs) <= ranks) return best;
  const double mean = prefix_sums(costs).back() / ranks;
  const double lower = std::max(mean, *std::max_element(costs.begin(), costs.end()));
  const auto improve = [&](auto&& owners_below) {
    double least = lower, most = makespan_over_mean(costs, best, ranks) * mean;
    for (int n = 0; n < k_guesses && least < most; ++n) {
      const double limit = 0.5 * (least + most);
      if (auto owners = owners_below(limit)) {
        best = std::move(*owners);
        most = std::min(limit, makespan_over_mean(costs, best, ranks) * mean);
      } else {
        least = limit;
      }
    }
  };
  const NodeWindows windows(costs, ranks, ranks_per_node);
  improve([&](double limit) { return windows.try_limit(limit); });
  const NearbySwaps swaps(costs, best, ranks, ranks_per_node);
  improve([&](double limit) { return swaps.bring_below(limit); });
  return best;
}

}  // namespace octant::placement
