// Block costs other than sweeps: processor time of the other parts of a step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/clocks.hpp"

namespace octant {

// Components of the cost of a block: sweeps of the gas; gravity; processes on the cells of a level,
// such as cooling; particles; and processes on gas and particles, such as star formation and
// feedback.
enum class CostComponent { sweeps, gravity, cells, particles, interactions };
inline constexpr int k_cost_components = 5;

// Quantity to which time is proportional that no counter attributes to a block.
enum class Share {
  blocks,            // equal for all blocks of the level
  leaf_cells,        // leaf cells of a block
  particles,         // particles of the level
  particles_onwards  // particles of the level and all finer ones
};

// Kind of a part of a step.
struct CostKind {
  CostComponent component;
  Share share;
  bool counts_cycles = false;  // loops over its blocks count processor cycles

  bool operator==(const CostKind&) const = default;
};

namespace cost {

inline constexpr CostKind gravity{CostComponent::gravity, Share::blocks, true};
inline constexpr CostKind cells{CostComponent::cells, Share::leaf_cells, true};
inline constexpr CostKind particles{CostComponent::particles, Share::particles};
inline constexpr CostKind particles_onwards{CostComponent::particles, Share::particles_onwards};
inline constexpr CostKind interactions{CostComponent::interactions, Share::particles_onwards, true};

}  // namespace cost

// Values by level and own block.
template <class Value>
using ByBlock = std::vector<std::vector<Value>>;
using BlockCounts = ByBlock<std::int32_t>;

// Times of a named part in a coarse step.
struct PartTimes {
  std::string name;
  CostKind kind;
  std::vector<double> nanoseconds;  // by level: CPU time of the main thread without MPI
  double wall_ns = 0.0;             // wall-clock time of the same spans on all levels
  // Time of loops that count cycles, a part of the CPU time; empty if nothing was counted.
  ByBlock<double> counted{};

  // Sum of `nanoseconds` over all levels.
  double total() const;
};

// Adds the main thread's CPU time until the end of the scope, without MPI. Includes device kernels
// only if `waits`; otherwise a later wait includes them.
class PartTimer {
 public:
  PartTimer(PartTimes& part, int level, bool waits);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

  // Leaves out CPU time that does not depend on the blocks of this rank.
  void leave_out(std::int64_t nanoseconds) { left_out_ += nanoseconds; }

 private:
  PartTimes& part_;
  int level_;
  bool waits_;
  std::int64_t cpu_, wall_;  // start times
  std::int64_t left_out_ = 0;
  MpiStopwatch mpi_;
};

// Contents of blocks by which time is distributed.
struct BlockContents {
  BlockCounts particles, leaf_octants;
};

// Distributes the time of a part over the blocks: counted time as it was counted, or less if there
// is more of it than CPU time, and the rest by the part's `share`. Time weighted by particles or
// leaf cells is distributed evenly over the blocks of a level without any; the time of a level
// without blocks is dropped.
ByBlock<double> distribute_time(const PartTimes& part, const BlockContents& contents);

}  // namespace octant
