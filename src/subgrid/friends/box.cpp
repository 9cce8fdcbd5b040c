#include "subgrid/friends/box.hpp"

#include <cmath>

#include "core/error.hpp"

namespace octant::subgrid::friends {

void check_points(std::span<const Point> points, const Box& box, const Linking& linking) {
  OCTANT_REQUIRE(linking.length >= 0.0 && linking.length < k_open,
                 "friends of friends: a linking length of {}", linking.length);
  for (const Point& point : points)
    OCTANT_REQUIRE(std::isfinite(point[0]) && std::isfinite(point[1]) && std::isfinite(point[2]),
                   "friends of friends: a point at {}, {}, {}", point[0], point[1], point[2]);
  if (box.empty()) return;
  for (int d = 0; d < 3; ++d)
    OCTANT_REQUIRE(
        box.upper[d] - box.lower[d] <= linking.period[d],
        "friends of friends: points are from {} to {} along axis {}; expected one period "
        "of {}",
        box.lower[d], box.upper[d], d, linking.period[d]);
}

}  // namespace octant::subgrid::friends
