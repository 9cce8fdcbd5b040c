// Linking criteria for pairs of points, bounding boxes, and the groups that links form.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace octant::subgrid::friends {

using Point = std::array<double, 3>;

inline constexpr double k_open = std::numeric_limits<double>::infinity();

// Linking length and periods, in the unit of the coordinates. Along a periodic axis, coordinates of
// points differ by at most one period.
struct Linking {
  double length = 0.0;                   // maximum distance of linked pairs
  Point period{k_open, k_open, k_open};  // k_open along a non-periodic axis

  // True for a periodic axis.
  bool periodic(int axis) const { return period[axis] < k_open; }
};

// Squared distance of nearest periodic images. The order of a and b does not change any bit, so all
// methods and ranks get the same result.
inline double separation_squared(const Point& a, const Point& b, const Point& period) {
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double apart = std::abs(a[d] - b[d]);
    const double nearest = std::min(apart, period[d] - apart);
    sum += nearest * nearest;
  }
  return sum;
}

// Criterion that links all points within the linking length. A criterion is a symmetric function
// (a, b, squared separation) of the indices of two points within the linking length. With
// k_distance_alone, points that are certainly within the linking length are linked without a call.
struct Near {
  static constexpr bool k_distance_alone = true;
  bool operator()(int, int, double) const { return true; }
};

// Returns true if two isolated masses are bound: 1/2 mu v^2 < G m1 m2 / r with the reduced mass mu,
// hence 1/2 v^2 r < G (m1 + m2).
inline bool bound(double squared_speed, double separation, double gravity, double mass) {
  return 0.5 * squared_speed * separation < gravity * mass;
}

// Axis-aligned bounding box of points.
struct Box {
  Point lower{k_open, k_open, k_open}, upper{-k_open, -k_open, -k_open};

  // Extends the box to contain a point.
  void add(const Point& point) {
    for (int d = 0; d < 3; ++d) {
      lower[d] = std::min(lower[d], point[d]);
      upper[d] = std::max(upper[d], point[d]);
    }
  }
  // True if the box contains no point.
  bool empty() const { return lower[0] > upper[0]; }
};

// Smallest box that contains the points.
inline Box bounding_box(std::span<const Point> points) {
  Box box;
  for (const Point& point : points) box.add(point);
  return box;
}

// Throws RunError if coordinates of points are not finite, or extend over more than one period of
// the box.
void check_points(std::span<const Point> points, const Box& box, const Linking& linking);

// Lower bound of separation_squared() for a point in each box. The rounding is the same, so the
// bound is never larger than the separation.
inline double least_separation_squared(const Box& a, const Box& b, const Point& period) {
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double gap = std::max(a.lower[d] - b.upper[d], b.lower[d] - a.upper[d]);
    const double span = std::max(a.upper[d] - b.lower[d], b.upper[d] - a.lower[d]);
    const double nearest = std::max(0.0, std::min(gap, period[d] - span));
    sum += nearest * nearest;
  }
  return sum;
}

// True unless all points in one box are farther than the linking length from all points in the
// other.
inline bool may_be_near(const Box& a, const Box& b, const Linking& linking) {
  return least_separation_squared(a, b, linking.period) <= linking.length * linking.length;
}

// Returns true if a point of `a` is within the linking length of a point of `b`. For large clumps,
// only points near the box around the other clump are tested: O(points) for separate clumps.
bool any_near(std::span<const Point> a, std::span<const Point> b, const Linking& linking);

// Groups of linked points: a disjoint-set forest in which a parent is an earlier point, so that the
// root of a tree is the first point of its group for any order of the links. Path halving (van
// Leeuwen & Tarjan 1984) bounds the cost of n links by O(n log n).
class Groups {
 public:
  explicit Groups(int points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), 0); }

  // First point of the group of a point.
  int root(int point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

  // Joins the groups of two points.
  void unite(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  // Thread-safe unite(): only a point that is still a root gets a parent. Threads may halve a path
  // while it grows, because ancestors remain ancestors.
  void unite_atomic(int a, int b) {
    for (;;) {
      a = root_atomic(a);
      b = root_atomic(b);
      if (a == b) return;
      if (a < b) std::swap(a, b);
      int expected = a;
      if (at(a).compare_exchange_strong(expected, b, std::memory_order_relaxed)) return;
    }
  }
  // Thread-safe root().
  int root_atomic(int point) {
    for (int parent; (parent = at(point).load(std::memory_order_relaxed)) != point;) {
      const int next = at(parent).load(std::memory_order_relaxed);
      at(point).store(next, std::memory_order_relaxed);
      point = next;
    }
    return point;
  }

  // Returns the smallest input index in each point's group, in the order of the input. order[point]
  // is the input index of a point.
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
