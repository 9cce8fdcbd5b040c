// Placement policies: owners of blocks from their costs in the order of a space-filling curve.
//
// All are pure functions of costs and counts, computed on one planner rank. They return one owner
// per block, in the order of the costs, and leave no rank empty if there are enough blocks. Costs
// are positive, in any unit; r is the number of ranks, n of blocks. LPT, CDP and CPLX: CPLX paper,
// section V (docs/papers/cplx.md); exact contiguous partitions: Pinar & Aykanat (2004), J. Parallel
// Distrib. Comput. 64, 974. All throw InputError if there is no rank or a cost is not positive.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/error.hpp"

namespace octant::placement {

using Costs = std::span<const double>;
using Owners = std::vector<std::int32_t>;

// Leaf block: its level, and its position in blocks of that level.
struct Leaf {
  int level = 0;
  std::array<std::int32_t, 3> position{};
};
using Leaves = std::span<const Leaf>;  // in the order of the costs

// Equal numbers of consecutive blocks, independent of their costs. O(n).
Owners baseline(Costs costs, int ranks);

// Contiguous partition with the smallest possible maximum load. O(n + r log r) in practice, memory
// O(n).
Owners exact(Costs costs, int ranks);

// Blocks in order of descending costs, each to the rank with the least load (LPT; Graham 1969):
// balanced, without locality. O(n log n).
Owners longest_first(Costs costs, int ranks);

// Contiguous pieces of any sizes by dynamic programming (CDP): the same maximum load as `exact`,
// which is much faster. O(n r) time, O(n) memory.
Owners any_sizes(Costs costs, int ranks);

// Best contiguous pieces of the two sizes floor(n / r) and ceil(n / r), by dynamic programming. O(r
// (n mod r)) time and bits of memory.
Owners two_sizes(Costs costs, int ranks);

// Applies two_sizes in chunks of equal cost with `chunk_ranks` ranks each, for many ranks.
inline constexpr int k_chunk_ranks = 512;
Owners two_sizes_chunked(Costs costs, int ranks, int chunk_ranks = k_chunk_ranks);

// Starts from a contiguous partition and reassigns the blocks of `percent` of the ranks, the most
// and the least loaded, by longest_first (CPLX). A start with a lower maximum load is returned.
// 0 is the exact partition, 100 is longest_first. Up to 16,384 ranks, the exact partition and that
// of two_sizes_chunked are both tried as start, the result with the lower maximum load is returned,
// and blocks are packed more tightly where possible (best-fit decreasing, for a few trials of the
// maximum load).
Owners cplx(Costs costs, int ranks, double percent);

// Reassigns the blocks of the most and least loaded ranks as cplx(), from any placement.
Owners rebalance_extremes(Costs costs, int ranks, double percent, Owners start);

// Each node of `ranks_per_node` consecutive ranks gets consecutive blocks, assigned in any order
// inside the node: traffic between nodes as with contiguous pieces, balance nearly as good as with
// longest_first. The maximum load is bisected; for each trial every node takes the longest run of
// blocks that best-fit decreasing packs into its ranks (Johnson 1973). If the balance can still
// improve, as with two blocks per rank, a few single blocks are exchanged with nearby ranks.
// Otherwise, if `leaves` gives the positions of blocks, runs end where few bytes cross, at the cost
// of a 64th of the maximum load: usually fewer bytes leave a node than with `baseline`.
Owners node_windows(Costs costs, int ranks, int ranks_per_node, Leaves leaves = {});

// Divides blocks and ranks into zones of at most `zone_ranks` ranks and equal cost per rank, so
// that separate planners can process the zones. Nodes of `ranks_per_node` ranks are not divided.
struct Zone {
  std::int64_t first_block = 0, blocks = 0;
  int first_rank = 0, ranks = 0;
};
// Returns the zones with their ranks only.
std::vector<Zone> zones_of_ranks(int ranks, int zone_ranks, int ranks_per_node);
// Returns the zones with their ranks and blocks.
std::vector<Zone> zones(Costs costs, int ranks, int zone_ranks, int ranks_per_node);

// Returns the load of every rank.
std::vector<double> loads(Costs costs, const Owners& owners, int ranks);
// Returns the ratio of the maximum to the mean load of the ranks.
double makespan_over_mean(Costs costs, const Owners& owners, int ranks);

// Throws InputError if there is no rank.
inline void check_ranks(int ranks) {
  if (ranks < 1) throw InputError("placement: expected at least one rank, found {}", ranks);
}

// Throws InputError if there is no rank or a cost is not a positive number.
inline void check_input(Costs costs, int ranks) {
  check_ranks(ranks);
  bool all_fine = true;  // loop without exits, which is much faster
  for (const double cost : costs) all_fine &= cost > 0.0 && cost <= 1e300;
  if (all_fine) return;
  for (std::size_t n = 0; n < costs.size(); ++n)
    if (!(costs[n] > 0.0 && costs[n] <= 1e300))
      throw InputError("placement: block {} has the cost {}; expected a positive number", n,
                       costs[n]);
}

// Contiguous placements: walls between pieces of the curve.

// Returns n + 1 values: the sum of the costs before each block, and the sum of all costs.
std::vector<double> prefix_sums(Costs costs);

// First block of each piece, and the number of blocks at the end: pieces + 1 values.
using Walls = std::vector<std::int64_t>;

// Returns the owner of every block.
Owners owners_of(const Walls& walls);

// Walls of the exact partition.
Walls exact_walls(Costs costs, int ranks);

// Walls of greedy pieces with loads within `limit`, into which all blocks must fit; no piece is
// empty if there are enough blocks.
Walls walls_within(Costs costs, int ranks, double limit);

}  // namespace octant::placement
