// Friends of friends by linked cells (Hockney & Eastwood 1988, 8-4-1): O(points).
#pragma once

#include <span>
#include <vector>

#include "subgrid/friends/cell_list.hpp"
#include "subgrid/friends/groups.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

// Whether a point of one clump is within the linking length of one of the other. Of large clumps,
// looks only at points near the box around the other one, so that two with a gap between them cost
// O(points).
bool any_near(std::span<const Point> a, std::span<const Point> b, const Linking& linking);

// Cells are as wide as the linking length. If distance alone counts, they have parts whose points
// are all friends, and two clumps that are linked by now need no further look: dense ones cost no
// more than others. Otherwise all pairs in touching cells are looked at.
template <class Criterion>
std::vector<int> by_cells(std::span<const Point> points, const Linking& linking,
                          const Criterion& criterion) {
  constexpr double k_rounding = 1.0 + 1e-9;
  const Box box = bounding_box(points);
  check_points(points, box, linking);
  if (points.empty()) return {};
  CellGrid grid(box, linking, k_rounding * linking.length);
  const bool clumps_are_friends = Criterion::k_distance_alone && grid.divide_cells(linking.length);
  const CellList list(points, grid);
  const std::span<const int> order = list.order();
  Groups groups(static_cast<int>(points.size()));

  const auto link_points = [&](int a, int b) {
    const double squared = separation_squared(list.points()[a], list.points()[b], linking.period);
    if (squared <= linking.length * linking.length && criterion(order[a], order[b], squared))
      groups.unite(a, b);
  };
  const auto link_clumps = [&](int a, int b) {
    if (clumps_are_friends) {
      if (groups.root(list.begin(a)) == groups.root(list.begin(b))) return;
      if (any_near(list.points(a), list.points(b), linking))
        groups.unite(list.begin(a), list.begin(b));
    } else {
      for (int n = list.begin(a); n < list.begin(a + 1); ++n)
        for (int m = list.begin(b); m < list.begin(b + 1); ++m) link_points(n, m);
    }
  };

  for (int clump = 0; clump < list.clumps(); ++clump)
    for (int n = list.begin(clump); n < list.begin(clump + 1); ++n) {
      if (clumps_are_friends) groups.unite(list.begin(clump), n);
      else
        for (int m = n + 1; m < list.begin(clump + 1); ++m) link_points(n, m);
    }
  for (int cell = 0; cell < list.cells(); ++cell)
    for (int a = list.first_clump(cell); a < list.first_clump(cell + 1); ++a)
      for (int b = a + 1; b < list.first_clump(cell + 1); ++b) link_clumps(a, b);
  for_each_touching_pair(list, grid, [&](int cell, int other) {
    for (int a = list.first_clump(cell); a < list.first_clump(cell + 1); ++a)
      for (int b = list.first_clump(other); b < list.first_clump(other + 1); ++b) link_clumps(a, b);
  });
  return groups.labels(order);
}

}  // namespace octant::subgrid::friends
