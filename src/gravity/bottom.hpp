// The grid of a level with patches of 2^3 cells, and all coarser ones.
//
// While a grid has many cells they stay spread over the ranks. Eight patches become one of the
// next grid, which belongs to the rank that owned the first of them: with each step to a coarser
// grid the cells become eight times fewer, and the ranks up to eight times. What is small in the
// end is gathered on the root. No rank holds more of a coarser grid than of the finer one, but for
// the root, which may hold k_gathered_cells.
#pragma once

#include <memory>

#include "gravity/gathered_grid.hpp"

namespace octant::gravity {

class SpreadGrid;

// With more cells than this a grid stays spread. The root takes a quarter of a millisecond and a
// megabyte for them.
inline constexpr std::int64_t k_gathered_cells = 8192;

class Bottom {
 public:
  // `finest`: this grid is the level itself, which is always gathered. The patches must outlive
  // this, and stay where they are. The results have the same bits for any `gathered`. Collective,
  // as all functions but bytes().
  Bottom(const LevelPatches& patches, bool finest, const BottomCells& cells,
         const CommOptions& options, std::int64_t gathered = k_gathered_cells);
  ~Bottom();

  // One V-cycle from phi = 0, for f of own patches; phi comes back with all copies.
  void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi);

  // V-cycles to a target, of the finest grid.
  SolveOutcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi, double target,
                     int most) {
    return gathered_->solve(f, phi, target, most);
  }

  // Of fields and tables on this rank, those of `patches` apart.
  std::int64_t bytes() const;
  // Spread grids, from the finest one on.
  int spread_grids() const;

 private:
  std::unique_ptr<SpreadGrid> spread_;  // or
  std::unique_ptr<GatheredGrid> gathered_;
};

}  // namespace octant::gravity
