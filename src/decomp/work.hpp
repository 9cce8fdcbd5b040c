// Input of the decompositions: blocks as weighted points on the finest grid of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "comm/communicator.hpp"
#include "decomp/morton.hpp"

namespace octant {

// Collective operations of a partition, which replace each value by the sum or the maximum over all
// ranks. One process can thus compute and test a partition for any number of ranks. Values are
// integers, so that the result does not depend on their distribution.
struct Reduction {
  using Operation = std::function<void(std::span<std::int64_t>)>;
  Operation sum;
  Operation max;
  int ranks = 1;
};

// Reduction in a single process.
inline Reduction reduction_of_one() {
  return {[](std::span<std::int64_t>) {}, [](std::span<std::int64_t>) {}};
}

// Reduction over the ranks of a communicator, which must outlive the result.
inline Reduction reduction_over(const Communicator& communicator) {
  return {[&](std::span<std::int64_t> values) { communicator.sum_in_place(values); },
          [&](std::span<std::int64_t> values) { communicator.max_in_place(values); },
          communicator.size()};
}

// Domain size in blocks of level 0. Blocks are cubes.
struct DomainShape {
  BlockCoordinates base_blocks;
};

// Block and its cost in one coarse step including all substeps, in any unit.
struct CostItem {
  BlockCoordinates coordinates;  // coordinates within the level
  int level;
  double cost;  // cost, not negative
};

// Block as a weighted point.
struct WorkPoint {
  BlockCoordinates centre;  // block of the finest level whose lower corner is the centre
  std::int64_t cost;        // cost in units common to all ranks
};

// Finest grid: blocks of level `depth`, `extent` per axis in the domain.
struct FinestGrid {
  int depth;
  BlockCoordinates extent;

  // Number of bits of a coordinate in this grid.
  int bits() const;
  // Block of this grid at the centre of a block of level <= depth, towards higher coordinates.
  BlockCoordinates centre_of(const BlockCoordinates& coordinates, int level) const;
};

// Grid of the blocks of level `depth`.
FinestGrid finest_grid(const DomainShape& domain, int depth);

// Points of all blocks of this rank, on the finest grid of all ranks.
struct Work {
  FinestGrid grid;
  std::vector<WorkPoint> points;
};

// Converts blocks to weighted points. Costs become integers, so that sums do not depend on their
// order: relative to the largest cost they are exact to 2^-40, or less if 2^22 blocks or more are
// possible with the largest number on a rank, because the sum must fit into 62 bits. Throws
// RunError on every rank if a cost is negative or not finite or a block lies outside the domain.
// Collective.
Work measure_work(const DomainShape& domain, std::span<const CostItem> blocks,
                  const Reduction& reduction);

// Cost model of a block: memory, time, and the combination of both (cuRAMSES paper, eq. 4-6 and 12,
// adapted from octs to blocks).

// Memory of a rank per object of each type in bytes; 0 selects the default.
struct MemoryWeights {
  double block = 0.0;
  double particle = 0.0;
  double sink = 0.0;
};

// Memory of a block (eq. 5) of block_size^3 cells with `numbers` 8-byte numbers per cell, including
// its part of tables.
double block_bytes(int block_size, int numbers);
// Bytes of a particle whose row has this many 8-byte words.
double particle_bytes(int words);
// Default memory weight of a sink, in units of that of another particle. It exceeds the memory of a
// sink, because its feedback and accretion visit many cells.
inline constexpr double k_sink_weight = 8.0;

// Time of a rank for one level since the last load balancing, as far as it depends on the amount of
// work.
struct LevelTime {
  std::int64_t nanoseconds = 0;
  std::int64_t updates = 0;  // block updates, or another measure of the work
};

// Correction 1 + alpha (t_local / t_mean - 1), clamped to [0.5, 2], of eq. 6 and 12; 1 without
// measurements.
double time_factor(double alpha, const LevelTime& local, const LevelTime& total);

// Time factor of each level on this rank. Collective; all ranks give the same number of levels.
std::vector<double> time_factors(double alpha, std::span<const LevelTime> local_levels,
                                 const Reduction& reduction);

}  // namespace octant
