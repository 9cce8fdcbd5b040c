#include "decomp/partition.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "comm/rank_tree.hpp"
#include "comm/route.hpp"
#include "decomp/wall_search.hpp"

namespace octant {
namespace {

// Point that descends the tree, and the rank that requests its owner.
struct OwnerQuery {
  WorkPoint point;
  std::int32_t rank;
  std::int32_t index;  // index of the point on that rank
};

struct Box {
  BlockCoordinates lower, upper;
};

// Order in which a node compares coordinates: the split axis first. Among equal lengths z comes
// first, so that cells next to a wall are adjacent in memory.
using AxisOrder = std::array<int, 3>;

AxisOrder longest_axis_first(const Box& box) {
  const auto length = [&](int axis) { return box.upper[axis] - box.lower[axis]; };
  AxisOrder axes{2, 1, 0};
  std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) { return length(a) > length(b); });
  return axes;
}

// Tree node, cut into the boxes of its children.
class CutNode {
 public:
  // `shares`: numbers of ranks of the children, to which their costs are proportional.
  // `queries`: this process's points. `sum` reduces over the processes of the node.
  CutNode(const Box& box, std::vector<std::int32_t> shares, std::span<const OwnerQuery> queries,
          int bits, double tolerance, const Reduction::Operation& sum)
      : box_(box), axes_(longest_axis_first(box)), bits_(bits) {
    const Key layer = Key{1} << 2 * bits, row = Key{1} << bits;
    const LineRange line{static_cast<Key>(box.lower[axes_[0]]) * layer,
                         static_cast<Key>(box.upper[axes_[0]]) * layer};
    std::vector<LinePoint> points;
    points.reserve(queries.size());
    for (const OwnerQuery& q : queries) points.push_back({position(q.point.centre), q.point.cost});
    // Walls between pairs of layers come first because they keep siblings together.
    const WallRules rules{std::move(shares), {2 * layer, layer, row, 1}, tolerance};
    walls_ = find_walls(line, points, rules, sum);
  }

  int child_of(const BlockCoordinates& c) const {
    const auto after = std::upper_bound(walls_.begin(), walls_.end(), position(c));
    return static_cast<int>(after - walls_.begin());
  }

  // A stepped wall cuts the layer above its plane: the boxes on both sides contain this layer.
  Box child(int index) const {
    const int axis = axes_[0];
    const Key layer = Key{1} << 2 * bits_;
    Box child = box_;
    if (index > 0) child.lower[axis] = static_cast<BlockCoordinate>(walls_[index - 1] / layer);
    if (index < static_cast<int>(walls_.size())) {
      const Key wall = walls_[index];
      child.upper[axis] = static_cast<BlockCoordinate>(wall / layer) + (wall % layer != 0);
    }
    return child;
  }

 private:
  // Orders the blocks of the box by layer, then by row within the layer, then along the row.
  Key position(const BlockCoordinates& c) const {
    const auto along = [&](int n) { return static_cast<Key>(c[axes_[n]]); };
    return (along(0) << bits_ | along(1)) << bits_ | along(2);
  }

  Box box_;
  AxisOrder axes_;
  int bits_;
  std::vector<Key> walls_;
};

Box whole_domain(const Work& work) { return {{0, 0, 0}, work.grid.extent}; }

std::vector<OwnerQuery> queries_of(const Work& work, int rank) {
  std::vector<OwnerQuery> queries;
  queries.reserve(work.points.size());
  for (const WorkPoint& point : work.points)
    queries.push_back({point, rank, static_cast<std::int32_t>(queries.size())});
  return queries;
}

// Number of ranks of each child of a group.
std::vector<std::int32_t> shares_of(const RankTree& tree, int level, std::int64_t group) {
  const int parts = tree.factor(level);
  std::vector<std::int32_t> shares;
  for (int part = 0; part < parts; ++part)
    shares.push_back(tree.ranks_of(level + 1, group * parts + part).count);
  return shares;
}

// Divides the points of a node and its descendants in one process.
class Division {
 public:
  Division(int ranks, const Work& work, double tolerance)
      : tree_(ranks), bits_(work.grid.bits()), tolerance_(tolerance), owners_(work.points.size()) {}

  void divide(int level, std::int64_t group, const Box& box, std::vector<OwnerQuery> queries) {
    if (level == tree_.levels()) {
      const int owner = tree_.ranks_of(level, group).first;
      for (const OwnerQuery& q : queries) owners_[q.index] = owner;
      return;
    }
    const CutNode node(box, shares_of(tree_, level, group), queries, bits_,
                       tolerance_ / tree_.levels(), reduction_of_one().sum);
    const int parts = tree_.factor(level);
    std::vector<std::vector<OwnerQuery>> below(parts);
    for (const OwnerQuery& q : queries) below[node.child_of(q.point.centre)].push_back(q);
    for (int part = 0; part < parts; ++part)
      divide(level + 1, group * parts + part, node.child(part), std::move(below[part]));
  }

  std::vector<int> owners() && { return std::move(owners_); }

 private:
  RankTree tree_;
  int bits_;
  double tolerance_;
  std::vector<int> owners_;
};

// Sends the owner, this rank, to the ranks that requested it. Returns the owners of this rank's own
// points.
std::vector<int> answer(const Communicator& communicator, std::span<const OwnerQuery> arrived,
                        std::size_t points) {
  std::vector<int> requesters;
  std::vector<std::int32_t> indices;
  for (const OwnerQuery& q : arrived) {
    requesters.push_back(q.rank);
    indices.push_back(q.index);
  }
  const auto answers = route<std::int32_t>(communicator, requesters, indices);
  std::vector<int> owners(points);
  for (std::size_t n = 0; n < answers.items.size(); ++n)
    owners[answers.items[n]] = answers.sources[n];
  return owners;
}

}  // namespace

std::vector<int> ksection_owners(const Communicator& communicator, const Work& work,
                                 double tolerance) {
  Descent descent(communicator);
  const RankTree& tree = descent.tree();
  Box box = whole_domain(work);
  std::vector<OwnerQuery> held = queries_of(work, communicator.rank());
  while (!descent.ends()) {
    const CutNode node(box, shares_of(tree, descent.level(), descent.group()), held,
                       work.grid.bits(), tolerance / tree.levels(),
                       [&](std::span<std::int64_t> values) { descent.sum_in_place(values); });
    std::vector<int> children;
    children.reserve(held.size());
    for (const OwnerQuery& q : held) children.push_back(node.child_of(q.point.centre));
    box = node.child(descent.child());
    held = descent.route_to_children<OwnerQuery>(children, held);
  }
  return answer(communicator, held, work.points.size());
}

std::vector<int> ksection_owners(int ranks, const Work& work, double tolerance) {
  Division division(ranks, work, tolerance);
  division.divide(0, 0, whole_domain(work), queries_of(work, 0));
  return std::move(division).owners();
}

}  // namespace octant
