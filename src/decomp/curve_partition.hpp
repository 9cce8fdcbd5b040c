// Ranks as consecutive pieces of a space-filling curve through the finest grid of blocks.
#pragma once

#include <vector>

#include "decomp/morton.hpp"
#include "decomp/work.hpp"

namespace octant {

enum class Curve { hilbert, morton };

// A finished partition: holds (ranks - 1) curve positions, nothing else.
class CurvePartition {
 public:
  // Cuts the curve so that every rank gets its share of the cost. Collective; ranks may be any
  // number, also another than that of the reduction. `tolerance` is the imbalance accepted for the
  // sake of pieces that keep siblings together.
  CurvePartition(Curve curve, int ranks, const Work& work, const Reduction& reduction,
                 double tolerance = k_tolerance);

  static constexpr double k_tolerance = 0.05;

  // The rank that owns a block, by its centre.
  int rank_of(const BlockCoordinates& coordinates, int level) const;

  // The rank that owns a block of the finest grid.
  int locate(const BlockCoordinates& finest) const;

  const FinestGrid& grid() const { return grid_; }

 private:
  Key position(const BlockCoordinates& finest) const;

  Curve curve_;
  FinestGrid grid_;
  int bits_;
  std::vector<Key> walls_;
};

}  // namespace octant
