#include "problems/lattice_ball.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace octant::problems {

namespace {

// A point on a node, face or cell centre of the lattice, to round-off, is put there exactly:
// distances are then exact too, and the ball is as symmetric as the lattice.
double snapped_to_half(double coordinate) {
  const double nearest = 0.5 * std::round(2.0 * coordinate);
  return std::abs(coordinate - nearest) < 1e-6 ? nearest : coordinate;
}

}  // namespace

LatticeBall::LatticeBall(const mesh::Geometry& geometry, const std::array<double, 3>& centre,
                         double radius)
    : cell_(geometry.cell_size(geometry.max_level())), radius_(radius), lower_(geometry.lower()) {
  for (int axis = 0; axis < 3; ++axis) {
    const double lower = geometry.lower()[axis], upper = geometry.upper()[axis];
    if (centre[axis] < lower || centre[axis] > upper)
      throw InputError("problem.centre[{}] = {} is outside the domain, {} to {}", axis,
                       centre[axis], lower, upper);
    centre_[axis] = snapped_to_half((centre[axis] - lower) / cell_);
    bounds_[axis] = {static_cast<Index>(std::floor(centre_[axis] - radius_)),
                     static_cast<Index>(std::ceil(centre_[axis] + radius_)) + 1};
    if (!geometry.periodic(axis)) continue;
    period_[axis] = std::llround((upper - lower) / cell_);
    const double largest = 0.5 * (upper - lower - geometry.cell_size(0)) / cell_;
    if (radius_ > largest)
      throw InputError(
          "problem.radius_cells = {}: in this periodic domain a ball has at most {} cells "
          "of the finest level in its radius",
          radius_, largest);
  }
  cells_ = count(bounds_);
}

double LatticeBall::fraction(const std::array<double, 3>& cell_centre, double cell_size) const {
  const Index side = std::llround(cell_size / cell_);
  std::array<Range, 3> ranges;
  for (int axis = 0; axis < 3; ++axis) {
    Index first = std::llround((cell_centre[axis] - 0.5 * cell_size - lower_[axis]) / cell_);
    if (period_[axis] > 0) {
      const double distance =
          static_cast<double>(first) + 0.5 * static_cast<double>(side) - centre_[axis];
      first -= period_[axis] * std::llround(distance / static_cast<double>(period_[axis]));
    }
    ranges[axis] = {std::max(first, bounds_[axis].begin),
                    std::min(first + side, bounds_[axis].end)};
    if (ranges[axis].begin >= ranges[axis].end) return 0.0;
  }
  const auto cells = static_cast<double>(side);
  return static_cast<double>(count(ranges)) / (cells * cells * cells);
}

LatticeBall::Index LatticeBall::count(const std::array<Range, 3>& ranges) const {
  const auto squared_distance = [this](Index index, int axis) {
    const double distance = static_cast<double>(index) + 0.5 - centre_[axis];
    return distance * distance;
  };
  Index inside = 0;
  for (Index k = ranges[2].begin; k < ranges[2].end; ++k)
    for (Index j = ranges[1].begin; j < ranges[1].end; ++j)
      for (Index i = ranges[0].begin; i < ranges[0].end; ++i)
        inside += squared_distance(i, 0) + squared_distance(j, 1) + squared_distance(k, 2) <=
                  radius_ * radius_;
  return inside;
}

}  // namespace octant::problems
