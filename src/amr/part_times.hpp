// Block costs other than sweeps: processor time of the other parts of a step.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "comm/clocks.hpp"

namespace octant {

// Components of the cost of a block: gas sweeps; gravity; processes on the cells of a level, such
// as cooling; particles; and processes on gas and particles, such as star formation and feedback.
enum class CostComponent { sweeps, gravity, cells, particles, interactions };
inline constexpr int k_cost_components = 5;

// Quantity by which the time of a part is distributed over blocks if no counter measures it.
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
  std::vector<double> cpu_ns;  // by level: CPU time of the main thread without MPI
  double wall_ns = 0.0;        // wall-clock time of the same spans on all levels
  // Time of loops that count cycles, by level and own block, a part of the CPU time; empty if none.
  ByBlock<double> counted{};

  // Sum of `cpu_ns` over all levels.
  double total() const;
};

// Adds the main thread's CPU time without MPI until the end of the scope. If `waits`, this includes
// device kernels; otherwise the time of kernels counts for the part that next waits for them.
class PartTimer {
 public:
  PartTimer(PartTimes& part, int level, bool waits);
  ~PartTimer();
  PartTimer(const PartTimer&) = delete;
  PartTimer& operator=(const PartTimer&) = delete;

  // Excludes CPU time that does not depend on the blocks of this rank.
  void leave_out(std::int64_t nanoseconds) { left_out_ += nanoseconds; }

 private:
  PartTimes& part_;
  int level_;
  bool waits_;
  std::int64_t cpu_, wall_;  // start times
  std::int64_t left_out_ = 0;
  MpiStopwatch mpi_;
};

// Numbers of particles and leaf octants of blocks, by which time is distributed.
struct BlockContents {
  BlockCounts particles, leaf_octants;
};

// Distributes the time of a part over the blocks: counted time by the counters, scaled down if it
// exceeds the CPU time, and the rest by the part's `share`. On levels without particles or leaf
// cells, time weighted by them is distributed evenly; the time of a level without blocks is
// dropped.
ByBlock<double> distribute_time(const PartTimes& part, const BlockContents& contents);

}  // namespace octant
