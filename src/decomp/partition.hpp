// Geometric domain decompositions: assignment of blocks to ranks.
//
// A block counts as a point at its centre, with a cost. The result does not depend on the previous
// owners. A rank stores only its own blocks, a bounded histogram and, for curves, the boundaries
// between all ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/named.hpp"
#include "decomp/morton.hpp"
#include "decomp/work.hpp"

namespace octant {

class ParameterSchema;

// Method of domain decomposition.
enum class Decomposition { ksection, hilbert, morton };
// Names of the values in balance.decomposition.
constexpr auto names_of(Decomposition) { return std::array{"ksection", "hilbert", "morton"}; }

// Quantity that is balanced over ranks.
enum class BalanceCost { memory, time, measured };
// Names of the values in balance.cost.
constexpr auto names_of(BalanceCost) { return std::array{"memory", "time", "measured"}; }

// Default of balance.tolerance, the imbalance accepted to place walls between layers of blocks or
// to keep siblings together.
inline constexpr double k_balance_tolerance = 0.05;

// Parameters of load balancing: section [balance] of a parameter file.
struct BalanceOptions {
  Decomposition decomposition = Decomposition::ksection;
  std::string policy = "contiguous";
  double cplx_x = 25.0;
  double tolerance = k_balance_tolerance;
  BalanceCost cost = BalanceCost::time;
  double time_alpha = 0.0;
  double rank_memory = 0.0;      // memory of a rank in MB; 0: no limit
  std::int64_t most_blocks = 0;  // 0: no limit
  int interval = 10;
  double imbalance_threshold = 0.0;  // 0: none
  MemoryWeights weights;             // in bytes

  // Number of updates of a block of this level per coarse step, for the cost model.
  double substeps(int level, bool subcycle) const;
  // Returns true if each level is balanced separately (cost: time or measured), else false.
  bool by_level() const { return cost != BalanceCost::memory; }
  // Returns true if a planner places the blocks (decomp/planner.hpp).
  bool is_planned() const { return policy != "contiguous"; }
  // Returns true if the number of a rank's blocks is limited; block_limit() gives the limit.
  bool is_limited() const { return rank_memory > 0.0 || most_blocks > 0; }
  // Maximum number of blocks of this size on a rank.
  std::int64_t block_limit(double bytes_of_block) const;
  // Throws InputError for contradictory options.
  void check() const;
};

// Declares the section [balance]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, BalanceOptions& options);

// Space-filling curve through the finest grid of blocks, divided into consecutive pieces.
enum class Curve { hilbert, morton };

// Finished partition along a curve: stores (ranks - 1) curve positions.
class CurvePartition {
 public:
  // Cuts the curve into pieces of equal cost. Collective; `ranks` may differ from the number of
  // ranks in the reduction. `tolerance` is the imbalance accepted to keep siblings together.
  CurvePartition(Curve curve, int ranks, const Work& work, const Reduction& reduction,
                 double tolerance = k_balance_tolerance);

  // Rank that owns a block, by its centre.
  int rank_of(const BlockCoordinates& coordinates, int level) const;

  // Rank that owns a block of the finest grid.
  int locate(const BlockCoordinates& finest) const;

  // Finest grid of blocks, through which the curve passes.
  const FinestGrid& grid() const { return grid_; }

 private:
  Key position(const BlockCoordinates& finest) const;

  Curve curve_;
  FinestGrid grid_;
  int bits_;
  std::vector<Key> walls_;
};

// Recursive k-section: space divided among ranks by a tree of walls (cuRAMSES paper, section 2).
//
// The tree is comm's RankTree: the root is the domain and all ranks. Every node is cut along the
// longest axis of its box into k parts for the k groups of consecutive ranks below it, with costs
// proportional to their numbers of ranks (eq. 3). A wall is a plane between blocks of the finest
// level. If no plane balances the cost well enough, because a single layer of blocks costs too
// much, the wall has a step: it cuts its layer along the next axis, and if necessary a row of the
// layer along the last. `tolerance` is the total imbalance of the tree accepted for plane walls.

// Returns the owner of each of this rank's points, independent of the present distribution.
// Collective. The points are passed down the tree to their owners. The ranks of a node cut it, in
// parallel with the other nodes of its level; no rank stores more than points and one histogram of
// its own node.
std::vector<int> ksection_owners(const Communicator& communicator, const Work& work,
                                 double tolerance = k_balance_tolerance);

// Returns the owners for any number of ranks >= 1, in a process that has all points. Not
// collective.
std::vector<int> ksection_owners(int ranks, const Work& work,
                                 double tolerance = k_balance_tolerance);

// Returns the owner of each of this rank's blocks, in the order of `local_blocks`. Collective. A
// rank may get no blocks. `tolerance` is passed to CurvePartition or ksection_owners. Throws
// RunError on every rank if a cost is negative or not finite, or a block lies outside of the
// domain.
std::vector<int> partition(Decomposition decomposition, const Communicator& communicator,
                           const DomainShape& domain, std::span<const CostItem> local_blocks,
                           double tolerance = k_balance_tolerance);

}  // namespace octant
