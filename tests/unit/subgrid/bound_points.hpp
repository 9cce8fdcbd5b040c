// Pairs of points that are bound, as a criterion of indices.
#pragma once

#include <cmath>
#include <span>

#include "subgrid/friends/linking.hpp"

namespace octant::subgrid::friends {

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
