// Groups of points that grow as links between points are found.
#pragma once

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace octant::subgrid::friends {

// A forest in which a parent is an earlier point: the root of a tree is the first point of its
// group, whatever the order of the links. Finding a root halves the path to it (van Leeuwen &
// Tarjan 1984), so that n links take little more than O(n).
class Groups {
 public:
  explicit Groups(int points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), 0); }

  int root(int point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

  void unite(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  // The same, but several threads may do so at the same time: only a point that is still a root
  // gets a parent, and a path may be halved while it grows, because what was an ancestor stays one.
  void unite_at_once(int a, int b) {
    for (;;) {
      a = root_at_once(a);
      b = root_at_once(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      int expected = a;
      if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
    }
  }
  int root_at_once(int point) {
    for (int parent; (parent = at(point).load(std::memory_order_relaxed)) != point;) {
      const int next = at(parent).load(std::memory_order_relaxed);
      at(point).store(next, std::memory_order_relaxed);
      point = next;
    }
    return point;
  }

  // For points whose number in the input is order[point]: the smallest such number in the group of
  // each, in the order of the input.
  std::vector<int> labels(std::span<const int> order) {
    const auto points = static_cast<int>(parent_.size());
    std::vector<int> least(points, std::numeric_limits<int>::max()), label(points);
    for (int n = 0; n < points; ++n) {
      const int first = root(n);
      least[first] = std::min(least[first], order[n]);
    }
    for (int n = 0; n < points; ++n) label[order[n]] = least[root(n)];
    return label;
  }

 private:
  std::atomic_ref<int> at(int point) { return std::atomic_ref<int>(parent_[point]); }

  std::vector<int> parent_;
};

}  // namespace octant::subgrid::friends
