#include "decomp/curve_partition.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/error.hpp"
#include "decomp/hilbert.hpp"
#include "decomp/wall_search.hpp"

namespace octant {

CurvePartition::CurvePartition(Curve curve, int ranks, const Work& work, const Reduction& reduction,
                               double tolerance)
    : curve_(curve), grid_(work.grid), bits_(work.grid.bits()) {
  OCTANT_REQUIRE(ranks >= 1, "a partition needs at least one rank, not {}", ranks);
  std::vector<LinePoint> points;
  points.reserve(work.points.size());
  for (const WorkPoint& point : work.points) {
    points.push_back({position(point.centre), point.cost});
  }
  const LineRange whole_curve{0, Key{1} << 3 * bits_};
  const WallRules rules{std::vector<std::int32_t>(ranks, 1), {8, 1}, tolerance};
  walls_ = find_walls(whole_curve, points, rules, reduction.sum);
}

int CurvePartition::rank_of(const BlockCoordinates& coordinates, int level) const {
  return locate(grid_.centre_of(coordinates, level));
}

int CurvePartition::locate(const BlockCoordinates& finest) const {
  const auto after = std::upper_bound(walls_.begin(), walls_.end(), position(finest));
  return static_cast<int>(after - walls_.begin());
}

Key CurvePartition::position(const BlockCoordinates& finest) const {
  return curve_ == Curve::hilbert ? hilbert_encode(finest, bits_) : morton_encode(finest);
}

}  // namespace octant
