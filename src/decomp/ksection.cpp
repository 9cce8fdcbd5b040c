#include "decomp/ksection.hpp"

#include <algorithm>

#include "comm/rank_tree.hpp"
#include "core/error.hpp"
#include "decomp/wall_search.hpp"

namespace octant {

KSectionTree::KSectionTree(int ranks, const Work& work, const Reduction& reduction,
                           double tolerance)
    : grid_(work.grid), bits_(work.grid.bits()) {
  OCTANT_REQUIRE(ranks >= 1, "a partition needs at least one rank, not {}", ranks);
  const RankTree tree(ranks);
  std::vector<Box> boxes{{{0, 0, 0}, grid_.extent}};
  std::vector<int> node_of_point(work.points.size(), 0);
  for (int l = 0; l < tree.levels(); ++l) {
    TreeLevel level{tree.factor(l), {}, {}};
    cut(level, boxes, work, node_of_point, tolerance / tree.levels(), reduction);
    for (std::size_t n = 0; n < work.points.size(); ++n) {
      node_of_point[n] = child_of(level, node_of_point[n], work.points[n].centre);
    }
    boxes = boxes_below(level, boxes);
    levels_.push_back(std::move(level));
  }
}

int KSectionTree::rank_of(const BlockCoordinates& coordinates, int level) const {
  return locate(grid_.centre_of(coordinates, level));
}

// Children are numbered like their ranks, so the node at the last level is the rank.
int KSectionTree::locate(const BlockCoordinates& finest) const {
  int node = 0;
  for (const TreeLevel& level : levels_) node = child_of(level, node, finest);
  return node;
}

KSectionTree::AxisOrder KSectionTree::longest_axis_first(const Box& box) {
  const auto length = [&](int axis) { return box.upper[axis] - box.lower[axis]; };
  AxisOrder axes{0, 1, 2};
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return length(a) > length(b); });
  return axes;
}

// Orders the blocks of a box by layer, then by row within the layer, then along the row.
Key KSectionTree::position(const AxisOrder& axes, const BlockCoordinates& c) const {
  const auto along = [&](int n) { return static_cast<Key>(c[axes[n]]); };
  return (along(0) << bits_ | along(1)) << bits_ | along(2);
}

int KSectionTree::child_of(const TreeLevel& level, int node, const BlockCoordinates& c) const {
  const auto first = level.walls.begin() + static_cast<std::ptrdiff_t>(node) * (level.parts - 1);
  const auto after =
      std::upper_bound(first, first + (level.parts - 1), position(level.axes[node], c));
  return node * level.parts + static_cast<int>(after - first);
}

void KSectionTree::cut(TreeLevel& level, const std::vector<Box>& boxes, const Work& work,
                       const std::vector<int>& node_of_point, double tolerance,
                       const Reduction& reduction) const {
  const Key layer = Key{1} << 2 * bits_, row = Key{1} << bits_;
  std::vector<LineRange> lines;
  for (const Box& box : boxes) {
    const AxisOrder axes = longest_axis_first(box);
    level.axes.push_back(axes);
    lines.push_back({static_cast<Key>(box.lower[axes[0]]) * layer,
                     static_cast<Key>(box.upper[axes[0]]) * layer});
  }
  std::vector<LinePoint> points;
  points.reserve(work.points.size());
  for (std::size_t n = 0; n < work.points.size(); ++n) {
    const int node = node_of_point[n];
    points.push_back(
        {position(level.axes[node], work.points[n].centre), work.points[n].cost, node});
  }
  // Walls between pairs of layers come first because they keep siblings together.
  const WallRules rules{level.parts, {2 * layer, layer, row, 1}, tolerance};
  level.walls = find_walls(lines, points, rules, reduction);
}

// A wall with a step lies in the layer above its plane: the boxes on both sides contain this layer.
std::vector<KSectionTree::Box> KSectionTree::boxes_below(const TreeLevel& level,
                                                         const std::vector<Box>& boxes) const {
  const Key layer = Key{1} << 2 * bits_;
  std::vector<Box> below;
  below.reserve(boxes.size() * level.parts);
  auto wall = level.walls.begin();
  for (std::size_t node = 0; node < boxes.size(); ++node) {
    const int axis = level.axes[node][0];
    Box rest = boxes[node];
    for (int part = 1; part < level.parts; ++part, ++wall) {
      const auto plane = static_cast<BlockCoordinate>(*wall / layer);
      Box box = rest;
      box.upper[axis] = plane + (*wall % layer != 0);
      rest.lower[axis] = plane;
      below.push_back(box);
    }
    below.push_back(rest);
  }
  return below;
}

}  // namespace octant
