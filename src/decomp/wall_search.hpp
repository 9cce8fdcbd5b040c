// Where to cut a line of weighted points into parts of given costs: the search that all
// decompositions share. A line is the split axis of a box of the k-section, or a space-filling
// curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/morton.hpp"
#include "decomp/reduction.hpp"

namespace octant {

// A point with a cost >= 0.
struct LinePoint {
  Key position;
  std::int64_t cost;
};

// The positions begin .. end - 1.
struct LineRange {
  Key begin;
  Key end;
};

// How walls are chosen. A wall at position p separates the points below p from those at p and
// above.
struct WallRules {
  // Of each part, in order: their costs shall be in proportion to these shares >= 0, the ranks of
  // each part (n_m in eq. 3). A part without a share gets no stretch of the line.
  std::vector<std::int32_t> shares;
  // Powers of two, descending, the last one 1. A wall is put at a multiple of the first grain for
  // which one exists that meets the tolerance, else at the position that balances best.
  std::vector<Key> grains;
  // The largest deviation of a part's cost from the ideal that is accepted for grains above 1,
  // relative to the ideal.
  double tolerance;
};

// Returns a wall fewer than there are shares, ascending, the same in every process. The processes
// that share the line call this with their own points and the same line and rules; `sum` adds over
// them. Walls are searched in passes: each sums one histogram of at most 1 MiB (or 64 bytes per
// wall if that is more) and narrows every wall down to one bin; a wall is done as soon as it meets
// the tolerance. The sum of all costs must fit into 62 bits.
std::vector<Key> find_walls(const LineRange& line, std::span<const LinePoint> points,
                            const WallRules& rules, const Reduction::Operation& sum);

}  // namespace octant
