#include "subgrid/friends/linking.hpp"

#include <cmath>

#include "core/error.hpp"

namespace octant::subgrid::friends {

void check_points(std::span<const Point> points, const Box& box, const Linking& linking) {
  OCTANT_REQUIRE(linking.length >= 0.0 && linking.length < k_open,
                 "friends-of-friends: the linking length is {}; expected a finite number >= 0",
                 linking.length);
  for (const Point& point : points)
    OCTANT_REQUIRE(
        std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]),
        "friends-of-friends: a point has the coordinates {}, {}, {}; expected finite numbers",
        point[0], point[1], point[2]);
  if (box.empty()) return;
  for (int d = 0; d < 3; ++d)
    OCTANT_REQUIRE(box.upper[d] - box.lower[d] <= linking.period[d],
                   "friends-of-friends: points extend from {} to {} along axis {}; expected at "
                   "most one period of {}",
                   box.lower[d], box.upper[d], d, linking.period[d]);
}

namespace {

// Maximum number of pairs that are all tested.
constexpr std::size_t k_max_direct_pairs = 64;

bool any_pair_near(std::span<const Point> a, std::span<const Point> b, const Linking& linking) {
  const double most = linking.length * linking.length;
  for (const Point& point : a)
    for (const Point& other : b)
      if (separation_squared(point, other, linking.period) <= most) return true;
  return false;
}

std::vector<Point> points_near(const Box& box, std::span<const Point> points,
                               const Linking& linking) {
  std::vector<Point> near;
  for (const Point& point : points)
    if (may_be_near({point, point}, box, linking)) near.push_back(point);
  return near;
}

}  // namespace

bool any_near(std::span<const Point> a, std::span<const Point> b, const Linking& linking) {
  if (a.size() * b.size() <= k_max_direct_pairs) return any_pair_near(a, b, linking);
  const std::vector<Point> near_b = points_near(bounding_box(b), a, linking);
  if (near_b.empty()) return false;
  return any_pair_near(near_b, points_near(bounding_box(near_b), b, linking), linking);
}

}  // namespace octant::subgrid::friends
