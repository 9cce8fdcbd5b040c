// Search for the walls that cut a line of weighted points into parts of given costs, common to all
// decompositions. A line is the split axis of a k-section box, or a space-filling curve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decomp/morton.hpp"
#include "decomp/work.hpp"

namespace octant {

// Point on the line with a cost >= 0.
struct LinePoint {
  Key position;
  std::int64_t cost;
};

// Range of positions begin .. end - 1.
struct LineRange {
  Key begin;
  Key end;
};

// Rules for walls. A wall at position p separates the points below p from those at p and above.
struct WallRules {
  // Shares >= 0 of the parts in order, to which their costs are proportional: numbers of ranks (n_m
  // in eq. 3). A part without a share gets no range of the line.
  std::vector<std::int32_t> shares;
  // Powers of two, descending, the last one 1. A wall is placed at a multiple of the first grain
  // for which such a position meets the tolerance, else at the position with the best balance.
  std::vector<Key> grains;
  // Maximum relative deviation of a part's cost from the ideal that is accepted for grains above 1.
  double tolerance;
};

// Returns the walls, one fewer than shares, ascending, the same in every process. All processes of
// the line call this with their own points and the same line and rules; `sum` reduces over them.
// Each pass reduces one histogram of at most 1 MiB (or 64 bytes per wall if that is more) and
// narrows every wall to one bin; a wall is final as soon as it meets the tolerance. The sum of all
// costs must fit into 62 bits.
std::vector<Key> find_walls(const LineRange& line, std::span<const LinePoint> points,
                            const WallRules& rules, const Reduction::Operation& sum);

}  // namespace octant
