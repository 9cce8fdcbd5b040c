// Coarse grids of a level: the grid with patches of 2^3 cells, and all coarser ones.
//
// Large grids are distributed over the ranks. Eight patches become one patch of the next coarser
// grid, on the rank that owned the first of them, so each coarsening divides the number of cells by
// eight and the number of ranks by up to eight. Small grids are gathered on the root. A rank stores
// no more of a coarser grid than of the finer one, except that the root may store k_gathered_cells.
#pragma once

#include <memory>

#include "gravity/coarse_cycle.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Maximum number of cells of a grid that is gathered on the root; larger grids stay distributed. A
// grid of this size takes 0.25 ms and 1 MB on the root.
inline constexpr std::int64_t k_gathered_cells = 8192;

// Solver for one grid and all coarser ones.
class CoarseGridSolver {
 public:
  virtual ~CoarseGridSolver() = default;

  // Creates the solver. `finest` is true if the grid is the level itself, which is always gathered.
  // The patches must outlive the solver and must not move. Results have the same bits for any
  // `gathered`. All functions but bytes() and spread_grids() are collective.
  static std::unique_ptr<CoarseGridSolver> make(const LevelPatches& patches, bool finest,
                                                const CoarseCells& cells,
                                                const CommOptions& options,
                                                std::int64_t gathered = k_gathered_cells);

  // Runs one V-cycle from phi = 0, for f of own patches. Sets phi in own patches and all copies.
  virtual void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) = 0;

  // Runs V-cycles of the finest grid from phi = 0 until the norm of the residual is at most
  // `target`, rounding prevents further reduction, or `most` cycles ran. Sets phi in all copies.
  virtual SolveOutcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi,
                             double target, int most) = 0;

  // Memory of fields and tables on this rank in bytes, without the patches of make().
  virtual std::int64_t bytes() const = 0;
  // Number of distributed grids, this grid included.
  virtual int spread_grids() const = 0;
};

}  // namespace octant::gravity
