#include "subgrid/friends/friends.hpp"

#include <bit>

namespace octant::subgrid::friends {

namespace {

constexpr std::size_t k_most_points_for_brute = 8192;  // more points would take seconds to try

}  // namespace

Method FastestMethod::choose(std::size_t points) const {
  const auto& seconds = seconds_[std::bit_width(points)];
  int fastest = static_cast<int>(Method::cells);
  for (int n = k_methods - 1; n >= 0; --n) {
    if (static_cast<Method>(n) == Method::brute && points > k_most_points_for_brute) continue;
    if (seconds[n] == 0.0) return static_cast<Method>(n);
    if (seconds[n] < seconds[fastest]) fastest = n;
  }
  return static_cast<Method>(fastest);
}

void FastestMethod::record(Method method, std::size_t points, double seconds) {
  double& least = seconds_[std::bit_width(points)][static_cast<int>(method)];
  if (least == 0.0 || seconds < least) least = seconds;
}

}  // namespace octant::subgrid::friends
