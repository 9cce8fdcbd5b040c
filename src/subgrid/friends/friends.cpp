#include "subgrid/friends/friends.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "decomp/morton.hpp"
#include "subgrid/friends/cell_list.hpp"

namespace octant::subgrid::friends {

namespace {

constexpr int k_max_leaf_points = 8;  // maximum number of points of a leaf
constexpr int k_bits_per_axis = Octree::k_levels - 1;

std::vector<KeyedPoint> in_morton_order(std::span<const Point> points, const Box& box) {
  constexpr double k_places = 1 << k_bits_per_axis;
  Point per_length;
  for (int d = 0; d < 3; ++d) {
    const double extent = box.upper[d] - box.lower[d];
    per_length[d] = extent > 0.0 ? k_places / extent : 0.0;
  }
  std::vector<KeyedPoint> keyed(points.size());
  for (std::size_t n = 0; n < points.size(); ++n) {
    BlockCoordinates place;
    for (int d = 0; d < 3; ++d)
      place[d] = static_cast<BlockCoordinate>(
          std::min((points[n][d] - box.lower[d]) * per_length[d], k_places - 1.0));
    keyed[n] = {static_cast<std::uint64_t>(morton_encode(place)), static_cast<int>(n)};
  }
  sort_by_key(keyed, 3 * k_bits_per_axis);
  return keyed;
}

// Returns true if no two positions in a box are farther apart than `length`. The rounding of
// separation_squared() makes the result valid for all points in the box.
bool fits(const Box& box, double length) {
  return length >= 0.0 &&
         separation_squared(box.lower, box.upper, {k_open, k_open, k_open}) <= length * length;
}

}  // namespace

Octree::Octree(std::span<const Point> points, const Linking& linking, double close) {
  const Box box = bounding_box(points);
  check_points(points, box, linking);
  if (points.empty()) return;
  const std::vector<KeyedPoint> keyed = in_morton_order(points, box);
  for (const KeyedPoint& each : keyed) {
    order_.push_back(each.point);
    points_.push_back(points[each.point]);
  }

  std::vector<int> levels{0};  // levels of the nodes
  nodes_.push_back({0, static_cast<int>(points.size()), 0, 0, false, box});
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const int begin = nodes_[n].begin, end = nodes_[n].end, level = levels[n];
    nodes_[n].box = bounding_box(this->points().subspan(begin, end - begin));
    nodes_[n].all_friends = fits(nodes_[n].box, close);
    if (nodes_[n].all_friends || end - begin <= k_max_leaf_points || level == k_bits_per_axis)
      continue;
    nodes_[n].first_child = static_cast<int>(nodes_.size());
    const int shift = 3 * (k_bits_per_axis - 1 - level);
    for (int first = begin; first < end;) {
      const std::uint64_t child = keyed[first].key >> shift;
      const auto after =
          std::partition_point(keyed.begin() + first, keyed.begin() + end,
                               [&](const KeyedPoint& each) { return each.key >> shift == child; });
      const auto next = static_cast<int>(after - keyed.begin());
      nodes_.push_back({first, next, 0, 0, false, {}});
      levels.push_back(level + 1);
      ++nodes_[n].children;
      first = next;
    }
  }
}

namespace {

constexpr std::size_t k_max_points_for_brute = 8192;  // a trial with more points would take seconds

}  // namespace

Method FastestMethod::choose(std::size_t points) const {
  const auto& seconds = seconds_[std::bit_width(points)];
  int fastest = static_cast<int>(Method::cells);
  for (int n = k_methods - 1; n >= 0; --n) {
    if (static_cast<Method>(n) == Method::brute && points > k_max_points_for_brute) continue;
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
