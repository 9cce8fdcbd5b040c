// Boxes around points.
#pragma once

#include <algorithm>
#include <span>

#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

// The smallest box, its sides along the axes, around some points.
struct Box {
  Point lower{k_open, k_open, k_open}, upper{-k_open, -k_open, -k_open};

  void add(const Point& point) {
    for (int d = 0; d < 3; ++d) {
      lower[d] = std::min(lower[d], point[d]);
      upper[d] = std::max(upper[d], point[d]);
    }
  }
  bool empty() const { return lower[0] > upper[0]; }
};

inline Box bounding_box(std::span<const Point> points) {
  Box box;
  for (const Point& point : points) box.add(point);
  return box;
}

// Throws RunError if points in a box cannot be linked: coordinates that are not numbers, or farther
// apart than one period.
void check_points(std::span<const Point> points, const Box& box, const Linking& linking);

// The least of separation_squared() for a point in one box and one in the other. Rounded as that
// is, so that it is never larger.
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

inline bool may_be_near(const Box& a, const Box& b, const Linking& linking) {
  return least_separation_squared(a, b, linking.period) <= linking.length * linking.length;
}

}  // namespace octant::subgrid::friends
