#include "decomp/placement/nearby_swaps.hpp"

#include <algorithm>
#include <utility>

namespace octant::placement {

namespace {

constexpr int k_farthest = 8;             // nodes between partners
constexpr int k_blocks_per_leaving = 32;  // one block in so many may leave its node

// Ranks and their blocks while exchanges go on. A rank keeps its number of blocks.
struct Bins {
  Costs costs;
  const std::vector<std::int64_t>& first;
  std::vector<std::int32_t> blocks;
  std::vector<double> load;

  struct Swap {
    std::int64_t given = -1, taken = -1;  // places in `blocks`
    int partner = -1;
    double larger = 0.0;  // of the two loads afterwards
  };

  // Makes `best` the exchange of a block of `rank` for one of `partner` that leaves the larger load
  // of the two the least, if that is below best.larger.
  void consider(int rank, int partner, Swap& best) const {
    for (std::int64_t mine = first[rank]; mine < first[rank + 1]; ++mine)
      for (std::int64_t other = first[partner]; other < first[partner + 1]; ++other) {
        const double gain = costs[blocks[mine]] - costs[blocks[other]];
        const double larger = std::max(load[rank] - gain, load[partner] + gain);
        if (larger < best.larger) best = {mine, other, partner, larger};
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

std::optional<Owners> NearbySwaps::bring_below(double limit) const {
  Bins bins{costs_, first_, blocks_, load_};
  const int nodes = (ranks_ + per_node_ - 1) / per_node_;
  std::int64_t may_leave = std::ssize(blocks_) / k_blocks_per_leaving;
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
    if (best.partner / per_node_ != node && (may_leave -= 2) < 0) return std::nullopt;
    bins.apply(rank, best);
  }
  Owners owners(blocks_.size());
  for (int rank = 0; rank < ranks_; ++rank)
    for (std::int64_t n = first_[rank]; n < first_[rank + 1]; ++n) owners[bins.blocks[n]] = rank;
  return owners;
}

}  // namespace octant::placement
