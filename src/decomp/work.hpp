// What the decompositions divide: blocks as weighted points on the finest grid of blocks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "decomp/morton.hpp"
#include "decomp/reduction.hpp"

namespace octant {

// The domain in blocks of level 0. Blocks are cubes.
struct DomainShape {
  BlockCoordinates base_blocks;
};

// One block, and what it costs its owner in one coarse step, all sub-steps included. Any unit.
struct CostItem {
  BlockCoordinates coordinates;  // within its level
  int level;
  double cost;  // >= 0
};

// A block as the decompositions see it.
struct WorkPoint {
  BlockCoordinates
      centre;         // the block of the finest level that holds the centre, at its lower corner
  std::int64_t cost;  // in units that are common to all ranks
};

// The finest grid: blocks of level `depth`, of which the domain has `extent` per axis.
struct FinestGrid {
  int depth;
  BlockCoordinates extent;

  // Bits that hold any coordinate of this grid.
  int bits() const;
  // The block of this grid at the centre of a block of level <= depth, towards higher coordinates.
  BlockCoordinates centre_of(const BlockCoordinates& coordinates, int level) const;
};

FinestGrid finest_grid(const DomainShape& domain, int depth);

// All blocks of this rank, on the finest grid that occurs on any rank.
struct Work {
  FinestGrid grid;
  std::vector<WorkPoint> points;
};

// Collective. Costs become integers, because their sums must not depend on who adds what: relative
// to the largest cost they are exact to 2^-40, or less where 2^22 blocks or more share 62 bits.
// Throws RunError on every rank if a cost is negative or not finite or a block lies outside of the
// domain.
Work measure_work(const DomainShape& domain, std::span<const CostItem> blocks,
                  const Reduction& reduction);

}  // namespace octant
