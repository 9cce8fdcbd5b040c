// The recursive k-section: space divided among ranks by a tree of walls (curamses.txt, section 2).
//
// The tree has the shape of comm's RankTree: the root is the domain and all ranks, and every node
// is cut along the longest axis of its box into k parts for k equal groups of consecutive ranks,
// with k the prime factors of the number of ranks in descending order. A wall is a plane between
// blocks of the finest level. Where no plane divides the cost well enough, because a single layer
// of blocks costs too much, the wall has a step: it cuts its layer along the next axis, and if need
// be that row along the last.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "decomp/morton.hpp"
#include "decomp/work.hpp"

namespace octant {

// A finished partition: holds (ranks - 1) walls and three bytes per node, nothing else.
class KSectionTree {
 public:
  // Places the walls so that every rank gets its share of the cost. Collective; ranks may be any
  // number, also another than that of the reduction. `tolerance` is the imbalance accepted for the
  // sake of flat walls, over the whole tree. All walls of one tree level are searched together.
  KSectionTree(int ranks, const Work& work, const Reduction& reduction,
               double tolerance = k_tolerance);

  static constexpr double k_tolerance = 0.05;

  // The rank that owns a block, by its centre.
  int rank_of(const BlockCoordinates& coordinates, int level) const;

  // The rank that owns a block of the finest grid.
  int locate(const BlockCoordinates& finest) const;

  const FinestGrid& grid() const { return grid_; }

 private:
  // The order in which a node compares coordinates: first along the axis that it is cut along.
  using AxisOrder = std::array<std::uint8_t, 3>;

  struct TreeLevel {
    int parts;
    std::vector<AxisOrder> axes;  // per node
    std::vector<Key> walls;       // parts - 1 per node, ascending along the node's axes
  };

  struct Box {
    BlockCoordinates lower, upper;
  };

  static AxisOrder longest_axis_first(const Box& box);
  Key position(const AxisOrder& axes, const BlockCoordinates& c) const;
  int child_of(const TreeLevel& level, int node, const BlockCoordinates& c) const;
  void cut(TreeLevel& level, const std::vector<Box>& boxes, const Work& work,
           const std::vector<int>& node_of_point, double tolerance,
           const Reduction& reduction) const;
  std::vector<Box> boxes_below(const TreeLevel& level, const std::vector<Box>& boxes) const;

  FinestGrid grid_;
  int bits_;
  std::vector<TreeLevel> levels_;
};

}  // namespace octant
