// Friends of friends: groups of points connected by links no longer than the linking length (Huchra
// & Geller 1982; Davis, Efstathiou, Frenk & White 1985).
//
// All methods give the same groups, so the fastest may be chosen. For points distributed over ranks
// see distributed.hpp.
#pragma once

#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "subgrid/friends/cell_list.hpp"
#include "subgrid/friends/linking.hpp"
#include "subgrid/friends/octree.hpp"

namespace octant::subgrid::friends {

// brute: all pairs, O(N^2). octree, octree_threads: a tree search for every point, on one thread or
// all. cells: linked cells.
enum class Method { brute, octree, octree_threads, cells };
inline constexpr int k_methods = 4;
inline constexpr const char* k_method_names[k_methods] = {"brute", "octree", "octree_threads",
                                                          "cells"};

template <class Criterion>
std::vector<int> by_all_pairs(std::span<const Point> points, const Linking& linking,
                              const Criterion& criterion) {
  check_points(points, bounding_box(points), linking);
  const auto count = static_cast<int>(points.size());
  const double most = linking.length * linking.length;
  Groups groups(count);
  for (int a = 0; a < count; ++a)
    for (int b = a + 1; b < count; ++b) {
      const double squared = separation_squared(points[a], points[b], linking.period);
      if (squared <= most && criterion(a, b, squared)) groups.unite(a, b);
    }
  std::vector<int> same_order(count);
  std::iota(same_order.begin(), same_order.end(), 0);
  return groups.labels(same_order);
}

// Smallest index of any point in each point's group: shape (points). A point without friends is a
// group. Throws RunError if coordinates are not finite or span more than one period.
template <class Criterion = Near>
std::vector<int> find_groups(Method method, std::span<const Point> points, const Linking& linking,
                             const Criterion& criterion = {}) {
  switch (method) {
    case Method::brute: return by_all_pairs(points, linking, criterion);
    case Method::octree: return by_octree(points, linking, criterion, false);
    case Method::octree_threads: return by_octree(points, linking, criterion, true);
    case Method::cells: return by_cells(points, linking, criterion);
  }
  throw RunError("friends-of-friends: unknown method {}", static_cast<int>(method));
}

// Chooses the method that was fastest before for a similar number of points, within a factor of
// two; each method is tried once. The choice affects only the run time, so ranks may differ.
class FastestMethod {
 public:
  // Method for a call, and the time that it then took.
  Method choose(std::size_t points) const;
  void record(Method method, std::size_t points, double seconds);

  template <class Criterion = Near>
  std::vector<int> find_groups(std::span<const Point> points, const Linking& linking,
                               const Criterion& criterion = {}) {
    const Method method = choose(points.size());
    const Clock clock;
    auto groups = friends::find_groups(method, points, linking, criterion);
    record(method, points.size(), clock.seconds());
    return groups;
  }

 private:
  // Minimum seconds by power of two of the number of points; 0: not tried.
  std::array<std::array<double, k_methods>, 65> seconds_{};
};

}  // namespace octant::subgrid::friends
