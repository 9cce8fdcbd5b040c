// Coarse grids of a level: the one with patches of 2^3 cells, and all coarser ones.
//
// A grid with many cells stays distributed over the ranks. Eight patches become one patch of the
// next coarser grid, owned by the rank that owned the first of them: each coarsening reduces the
// number of cells eightfold and the number of ranks by up to eight. Small grids are gathered on the
// root. A rank holds no more of a coarser grid than of the finer one, except the root, which may
// hold k_gathered_cells.
#pragma once

#include <memory>

#include "gravity/coarse_cycle.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Maximum number of cells of a grid that is gathered on the root; larger grids stay distributed.
// The root needs a quarter of a millisecond and a megabyte for this many.
inline constexpr std::int64_t k_gathered_cells = 8192;

// Solver for one grid by means of the next coarser one.
class CoarseGridSolver {
 public:
  virtual ~CoarseGridSolver() = default;

  // `finest` is true if this grid is the level itself, which is always gathered. The patches must
  // outlive the solver and must not move. The results have the same bits for any `gathered`. All
  // functions but bytes() and spread_grids() are collective.
  static std::unique_ptr<CoarseGridSolver> make(const LevelPatches& patches, bool finest,
                                                const CoarseCells& cells,
                                                const CommOptions& options,
                                                std::int64_t gathered = k_gathered_cells);

  // Runs one V-cycle from phi = 0, for f of own patches; sets phi in all copies.
  virtual void solve(const DeviceArray<double>& f, const DeviceArray<double>& phi) = 0;

  // Runs V-cycles of the finest grid from phi = 0 until the norm of the residual is at most
  // `target` or `most` cycles were done. Returns the norms; phi is set in all copies.
  virtual SolveOutcome solve(const DeviceArray<double>& f, const DeviceArray<double>& phi,
                             double target, int most) = 0;

  // Memory of fields and tables on this rank in bytes, without `patches`.
  virtual std::int64_t bytes() const = 0;
  // Number of distributed grids: this one, if distributed, and coarser ones.
  virtual int spread_grids() const = 0;
};

}  // namespace octant::gravity
