// Friends of friends: groups of points connected by links no longer than the linking length (Huchra
// & Geller 1982; Davis, Efstathiou, Frenk & White 1985).
//
// All methods give the same groups. For points distributed over ranks see distributed.hpp.
#pragma once

#include <array>
#include <numeric>
#include <span>
#include <vector>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/teams.hpp"
#include "subgrid/friends/cell_list.hpp"
#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

// Octree of points in Morton order, in which each node has the bounding box of its points.
class Octree {
 public:
  static constexpr int k_levels = 22;  // including the root

  // Node of the tree.
  struct Node {
    int begin, end;    // range of the node's points
    int first_child;   // children are nodes first_child, ..., first_child + children - 1
    int children;      // 0: a leaf
    bool all_friends;  // true if all points are within `close` of each other
    Box box;           // bounding box of the points
  };

  // A node is a leaf if it has few points or if all its points are within `close` of each other. A
  // negative `close` disables the second condition, for criteria beyond the distance. Throws
  // RunError as check_points() does.
  Octree(std::span<const Point> points, const Linking& linking, double close);

  std::span<const Node> nodes() const { return nodes_; }  // parents before children; 0 is the root
  std::span<const Point> points() const { return points_; }  // in Morton order
  std::span<const int> order() const { return order_; }      // input index of each point

  // Calls visit(leaf) for every leaf that may contain friends of `point` among the points after it
  // in Morton order. Iterative: the stack has at most seven nodes per level.
  template <class Visit>
  void for_each_leaf_near(int point, const Linking& linking, const Visit& visit) const {
    if (nodes_.empty()) return;
    const Box place{points_[point], points_[point]};
    std::array<int, 8 * k_levels> waiting;
    int left = 0;
    waiting[left++] = 0;
    while (left > 0) {
      const Node& node = nodes_[waiting[--left]];
      if (node.end <= point + 1) continue;
      if (!may_be_near(place, node.box, linking)) continue;
      if (node.children == 0) visit(node);
      for (int child = node.children - 1; child >= 0; --child)
        waiting[left++] = node.first_child + child;
    }
  }

 private:
  std::vector<Node> nodes_;
  std::vector<Point> points_;
  std::vector<int> order_;
};

// Finds groups by a tree search from each point for later friends. O(points log(points)), except
// for dense clumps with a criterion beyond the distance.
template <class Criterion>
std::vector<int> by_octree(std::span<const Point> points, const Linking& linking,
                           const Criterion& criterion, bool threads) {
  const Octree tree(points, linking, Criterion::k_distance_alone ? linking.length : -1.0);
  const std::span<const Point> sorted = tree.points();
  const std::span<const int> order = tree.order();
  const auto count = static_cast<int>(points.size());
  const double most = linking.length * linking.length;
  Groups groups(count);
  for (const Octree::Node& node : tree.nodes())
    if (node.children == 0 && node.all_friends)
      for (int n = node.begin + 1; n < node.end; ++n) groups.unite(node.begin, n);

  const auto link_point = [&](int a) {
    tree.for_each_leaf_near(a, linking, [&](const Octree::Node& leaf) {
      if (leaf.all_friends && groups.root_atomic(a) == groups.root_atomic(leaf.begin)) return;
      for (int b = std::max(leaf.begin, a + 1); b < leaf.end; ++b) {
        const double squared = separation_squared(sorted[a], sorted[b], linking.period);
        if (squared > most || !criterion(order[a], order[b], squared)) continue;
        groups.unite_atomic(a, b);
        if (leaf.all_friends) return;
      }
    });
  };
  if (threads) {
    for_items_on_host("friends of friends", count, 256, link_point);
  } else {
    for (int a = 0; a < count; ++a) link_point(a);
  }
  return groups.labels(order);
}

// Methods: all pairs, O(N^2) (brute); a tree search from every point, on one thread (octree) or all
// threads (octree_threads); linked cells (cells).
enum class Method { brute, octree, octree_threads, cells };
inline constexpr int k_methods = 4;
inline constexpr const char* k_method_names[k_methods] = {"brute", "octree", "octree_threads",
                                                          "cells"};

// Finds groups by testing all pairs; see find_groups().
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

// Returns, for each point, the smallest index of the points in its group. A point without friends
// is a group. Throws RunError if coordinates are not finite or span more than one period.
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

// Choice of the method that was fastest so far for a number of points equal within a factor of two,
// after trying each method once. The choice affects only the run time, so ranks may differ.
class FastestMethod {
 public:
  // Returns the method to use for a number of points.
  Method choose(std::size_t points) const;
  // Records the run time of a method for a number of points.
  void record(Method method, std::size_t points, double seconds);

  // Finds groups by the method that choose() returns, and records the run time.
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
  // Minimum run time in seconds, [bit width of the number of points][method]; 0: not tried.
  std::array<std::array<double, k_methods>, 65> seconds_{};
};

}  // namespace octant::subgrid::friends
