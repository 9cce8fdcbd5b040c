// Who is a friend of whom: points within a linking length, and what else may be asked of a pair.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace octant::subgrid::friends {

using Point = std::array<double, 3>;

inline constexpr double k_open = std::numeric_limits<double>::infinity();

// Lengths are in the unit of the points' coordinates. Along a periodic axis, coordinates lie within
// one period of each other.
struct Linking {
  double length = 0.0;                   // no pair is linked farther apart
  Point period{k_open, k_open, k_open};  // of each axis; k_open where the axis is not periodic

  bool periodic(int axis) const { return period[axis] < k_open; }
};

// The square of the distance of nearest images. The same bits whichever point comes first, so that
// every method and every rank decides alike.
inline double separation_squared(const Point& a, const Point& b, const Point& period) {
  double sum = 0.0;
  for (int d = 0; d < 3; ++d) {
    const double apart = std::abs(a[d] - b[d]);
    const double nearest = std::min(apart, period[d] - apart);
    sum += nearest * nearest;
  }
  return sum;
}

// A criterion has operator()(a, b, separation squared) for pairs within the linking length, where a
// and b are indices of points, in no order. It must be symmetric. If distance alone counts, points
// that must be near each other are linked unseen.
struct Near {
  static constexpr bool k_distance_alone = true;
  bool operator()(int, int, double) const { return true; }
};

// Whether two masses on their own would be bound: 1/2 mu v^2 < G m1 m2 / r with the reduced mass
// mu, hence 1/2 v^2 r < G (m1 + m2).
inline bool bound(double squared_speed, double separation, double gravity, double mass) {
  return 0.5 * squared_speed * separation < gravity * mass;
}

struct Bound {
  static constexpr bool k_distance_alone = false;
  std::span<const Point> velocity;
  std::span<const double> mass;
  double gravity;  // G in the unit of the others

  bool operator()(int a, int b, double separation_squared) const {
    double squared_speed = 0.0;
    for (int d = 0; d < 3; ++d) {
      const double difference = velocity[a][d] - velocity[b][d];
      squared_speed += difference * difference;
    }
    return bound(squared_speed, std::sqrt(separation_squared), gravity, mass[a] + mass[b]);
  }
};

}  // namespace octant::subgrid::friends
