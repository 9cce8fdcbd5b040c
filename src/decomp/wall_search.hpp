// Where to cut lines of weighted points into parts of equal cost: the search that all
// decompositions share. A line is the split axis of one box of the k-section, or a space-filling
// curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/morton.hpp"
#include "decomp/reduction.hpp"

namespace octant {

// A point on line `line` with a cost >= 0.
struct LinePoint {
  Key position;
  std::int64_t cost;
  std::int32_t line;
};

// The positions begin .. end - 1 of a line.
struct LineRange {
  Key begin;
  Key end;
};

// How walls are chosen. A wall at position p separates the points below p from those at p and
// above.
struct WallRules {
  // Every line is cut into this many parts, which shall have equal costs (eq. 3 with equal n_m).
  int parts;
  // Powers of two, descending, the last one 1. A wall is put at a multiple of the first grain for
  // which one exists that meets the tolerance, else at the position that balances best.
  std::vector<Key> grains;
  // The largest deviation of a part's cost from the ideal that is accepted for grains above 1,
  // relative to the ideal.
  double tolerance;
};

// Returns (parts - 1) ascending walls per line, line by line, the same on every rank. Collective:
// each rank gives its own points and the same lines and rules. All lines are searched in the same
// passes: each pass sums one histogram of at most 1 MiB (or 64 bytes per wall if that is more) over
// all ranks and narrows every wall down to one bin; a wall is done as soon as it meets the
// tolerance. The sum of all costs must fit into 62 bits.
std::vector<Key> find_walls(std::span<const LineRange> lines, std::span<const LinePoint> points,
                            const WallRules& rules, const Reduction& reduction);

}  // namespace octant
