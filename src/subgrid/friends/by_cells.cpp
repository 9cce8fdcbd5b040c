#include "subgrid/friends/by_cells.hpp"

namespace octant::subgrid::friends {

namespace {

// Of so few pairs all are looked at.
constexpr std::size_t k_few_pairs = 64;

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
  if (a.size() * b.size() <= k_few_pairs) return any_pair_near(a, b, linking);
  const std::vector<Point> near_b = points_near(bounding_box(b), a, linking);
  if (near_b.empty()) return false;
  return any_pair_near(near_b, points_near(bounding_box(near_b), b, linking), linking);
}

}  // namespace octant::subgrid::friends
