// Which rank owns which block, from the blocks' costs in the order of a space-filling curve: the
// policies.
//
// All are pure functions of costs and counts, made on one planner rank. They give one owner per
// block, in the order of the costs, and leave no rank empty while there are blocks enough. Costs
// are positive, in any unit. Ranks r, blocks n. See cplx-placement.txt, section V, for LPT, CDP and
// CPLX; exact contiguous partitions: Pinar & Aykanat (2004), J. Parallel Distrib. Comput. 64, 974.
//
// All throw InputError if there is no rank or a cost is not a positive number.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace octant::placement {

using Costs = std::span<const double>;
using Owners = std::vector<std::int32_t>;

// A leaf of a tree of blocks: its level and its place among that level's blocks.
struct Leaf {
  int level = 0;
  std::array<std::int32_t, 3> place{};
};
using Leaves = std::span<const Leaf>;  // in the order of the costs

// Equal numbers of consecutive blocks, whatever they cost. O(n).
Owners baseline(Costs costs, int ranks);

// The contiguous partition with the smallest possible largest load. O(n + r log r) in practice,
// memory O(n).
Owners exact(Costs costs, int ranks);

// The next block in order of descending costs always goes to the rank with the least load (LPT;
// Graham 1969): balanced, with no thought of neighbours. O(n log n).
Owners longest_first(Costs costs, int ranks);

// Contiguous pieces of any sizes by dynamic programming (CDP): as even as `exact`, which finds the
// same in a fraction of the time. O(n r) time, O(n) memory.
Owners any_sizes(Costs costs, int ranks);

// Contiguous pieces by dynamic programming with the two sizes floor(n / r) and ceil(n / r):
// the best of those. O(r (n mod r)) time and bits of memory.
Owners two_sizes(Costs costs, int ranks);

// The same in chunks of equal cost with `chunk_ranks` ranks each, for many ranks.
Owners two_sizes_chunked(Costs costs, int ranks, int chunk_ranks = 512);

// Starts from a contiguous partition, takes `percent` of the ranks, the most loaded and the least,
// and deals out their blocks anew by longest_first (CPLX). 0 is the exact partition, 100 is
// longest_first. With up to 16,384 ranks it is the better one of what comes of the exact partition
// and of two_sizes_chunked, and the blocks are packed more tightly (best-fit decreasing, for a few
// guesses of the largest load) where that is possible.
Owners cplx(Costs costs, int ranks, double percent);

// The same from any placement.
Owners rebalance_extremes(Costs costs, int ranks, double percent, Owners start);

// Each node of `ranks_per_node` consecutive ranks gets consecutive blocks, dealt out freely inside
// the node: traffic between nodes as with contiguous pieces, loads nearly as even as without order.
// The largest load is bisected; for each guess every node takes the longest run of blocks that
// best-fit decreasing packs into its ranks (Johnson 1973). Where that leaves much to be gained, as
// with two blocks per rank, a few single blocks change places with ones of ranks nearby
// (NearbySwaps). Where it does not, and `leaves` says where blocks are, runs end where few bytes
// cross, at the price of a 64th of the largest load: as a rule fewer bytes leave a node than by
// `baseline`.
Owners node_windows(Costs costs, int ranks, int ranks_per_node, Leaves leaves = {});

// Cuts blocks and ranks into zones of at most `zone_ranks` ranks and equal cost per rank, so that a
// policy may be applied to each by another planner. Whole nodes of `ranks_per_node` stay together.
struct Zone {
  std::int64_t first_block = 0, blocks = 0;
  int first_rank = 0, ranks = 0;
};
std::vector<Zone> zones(Costs costs, int ranks, int zone_ranks, int ranks_per_node);

// The load of every rank, and the largest load over the mean one.
std::vector<double> loads(Costs costs, const Owners& owners, int ranks);
double makespan_over_mean(Costs costs, const Owners& owners, int ranks);

}  // namespace octant::placement
