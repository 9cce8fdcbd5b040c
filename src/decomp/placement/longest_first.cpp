// Placement policies that ignore the order along the curve.
#include <algorithm>
#include <numeric>
#include <set>

#include "decomp/placement/placement.hpp"

namespace octant::placement {

namespace {

using Load = std::pair<double, std::int32_t>;  // load and rank; or negative cost and block

constexpr int k_guesses = 4;  // bisections of the maximum load
// Maximum number of ranks for which several placements are compared; more would take too long.
constexpr int k_max_careful_ranks = 16'384;

// Adds to the least load, at the front of the heap, and restores the heap.
void add_to_least(std::vector<Load>& heap, double cost) {
  Load grown = heap.front();
  grown.first += cost;
  std::size_t at = 0;
  for (std::size_t below = 1; below < heap.size(); below = 2 * at + 1) {
    if (below + 1 < heap.size() && heap[below + 1] < heap[below]) ++below;
    if (grown < heap[below]) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = grown;
}

// Blocks with their negative costs, sorted by descending cost.
std::vector<Load> by_descending_cost(Costs costs, const std::vector<std::int32_t>& blocks) {
  std::vector<Load> order;
  order.reserve(blocks.size());
  for (const std::int32_t block : blocks) order.emplace_back(-costs[block], block);
  std::sort(order.begin(), order.end());
  return order;
}

// Assigns blocks to ranks in order of descending cost, each to the least loaded rank, and to the
// one with the lowest index if there are several. `ranks` must ascend.
void assign_to_least_loaded(const std::vector<Load>& order, const std::vector<std::int32_t>& ranks,
                            Owners& owners) {
  // The first blocks go to different empty ranks.
  const std::size_t first = std::min(order.size(), ranks.size());
  std::vector<Load> heap;
  heap.reserve(first);
  for (std::size_t n = 0; n < first; ++n) {
    owners[order[n].second] = ranks[n];
    heap.emplace_back(-order[n].first, ranks[n]);
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  for (std::size_t n = first; n < order.size(); ++n) {
    owners[order[n].second] = heap.front().second;
    add_to_least(heap, -order[n].first);
  }
}

// Best-fit decreasing: assigns each block, by descending cost, to the fullest rank with spare
// capacity for it. Returns false if a block does not fit or a rank would stay empty.
bool pack(const std::vector<Load>& order, const std::vector<std::int32_t>& ranks, double limit,
          Owners& owners) {
  std::set<Load> capacity;  // remaining capacity of the ranks
  for (const std::int32_t rank : ranks) capacity.emplace(limit, rank);
  std::size_t empty = ranks.size();
  for (const auto& [negative_cost, block] : order) {
    const auto fullest = capacity.lower_bound({-negative_cost, -1});
    if (fullest == capacity.end()) return false;
    auto rank = capacity.extract(fullest);
    if (rank.value().first == limit) --empty;
    rank.value().first += negative_cost;
    owners[block] = rank.value().second;
    capacity.insert(std::move(rank));
  }
  return empty == 0;
}

std::vector<std::int32_t> all_of(std::size_t count) {
  std::vector<std::int32_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

// Marks `count` ranks with the highest and lowest loads, in numbers such that their mean load is
// close to that of all ranks.
std::vector<bool> extremes(const std::vector<double>& load, std::size_t count) {
  std::vector<Load> order;
  order.reserve(load.size());
  for (std::size_t rank = 0; rank < load.size(); ++rank)
    order.emplace_back(-load[rank], static_cast<std::int32_t>(rank));
  std::sort(order.begin(), order.end());
  const double mean =
      std::accumulate(load.begin(), load.end(), 0.0) / static_cast<double>(load.size());
  std::vector<bool> chosen(load.size(), false);
  std::size_t top = 0, bottom = load.size();
  double surplus = 0.0;
  for (std::size_t n = 0; n < count; ++n) {
    const std::int32_t rank = (surplus <= 0.0 ? order[top++] : order[--bottom]).second;
    chosen[rank] = true;
    surplus += load[rank] - mean;
  }
  return chosen;
}

double largest_load(Costs costs, const Owners& owners, int ranks) {
  const auto sums = loads(costs, owners, ranks);
  return *std::max_element(sums.begin(), sums.end());
}

}  // namespace

Owners longest_first(Costs costs, int ranks) {
  check_input(costs, ranks);
  Owners owners(costs.size());
  assign_to_least_loaded(by_descending_cost(costs, all_of(costs.size())),
                         all_of(static_cast<std::size_t>(ranks)), owners);
  return owners;
}

Owners rebalance_extremes(Costs costs, int ranks, double percent, Owners start) {
  check_input(costs, ranks);
  if (!(percent >= 0.0 && percent <= 100.0))
    throw InputError("balance.cplx_x = {}: expected a percentage between 0 and 100", percent);
  if (percent == 100.0) return longest_first(costs, ranks);
  const auto count = static_cast<std::size_t>(percent / 100.0 * ranks);
  if (count < 2 || costs.empty()) return start;
  const auto before = loads(costs, start, ranks);
  const auto chosen = extremes(before, count);
  std::vector<std::int32_t> some_ranks, their_blocks;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    if (chosen[rank]) some_ranks.push_back(rank);
  for (std::int32_t block = 0; block < std::ssize(costs); ++block)
    if (chosen[start[block]]) their_blocks.push_back(block);
  const auto order = by_descending_cost(costs, their_blocks);
  Owners owners = start;
  assign_to_least_loaded(order, some_ranks, owners);
  // Lower bound: the ranks that keep their blocks, and the most expensive block.
  double least = order.empty() ? 0.0 : -order.front().first;
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    if (!chosen[rank]) least = std::max(least, before[rank]);
  double most = largest_load(costs, owners, ranks);
  for (int n = 0; n < k_guesses && least < most && ranks <= k_max_careful_ranks; ++n) {
    const double limit = 0.5 * (least + most);
    Owners tighter = owners;
    if (pack(order, some_ranks, limit, tighter)) {
      owners = std::move(tighter);
      most = largest_load(costs, owners, ranks);
    } else {
      least = limit;
    }
  }
  return most <= *std::max_element(before.begin(), before.end()) ? owners : start;
}

Owners cplx(Costs costs, int ranks, double percent) {
  if (percent == 100.0) return longest_first(costs, ranks);
  const auto from = [&](Owners start) {
    return rebalance_extremes(costs, ranks, percent, std::move(start));
  };
  Owners owners = from(exact(costs, ranks));
  if (percent == 0.0 || costs.empty() || ranks > k_max_careful_ranks) return owners;
  Owners other = from(two_sizes_chunked(costs, ranks));
  return largest_load(costs, other, ranks) < largest_load(costs, owners, ranks) ? other : owners;
}

}  // namespace octant::placement
