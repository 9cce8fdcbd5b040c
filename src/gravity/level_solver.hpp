// Multigrid solver for the Poisson equation on one level: V-cycles with one over-relaxed red-black
// sweep on the way down and one on the way up, on patches that are coarsened in place.
//
// A pass copies each patch with ghost cells to scratch memory, sweeps over the copy, and writes the
// patch. Ghost cells are recomputed exactly as their owner computes them, so the result is that of
// sweeps over the whole level, for any patches.
//
// Equations are multiplied by h^2: sum(neighbours) - d phi = f. Masked cells have d = 0 and phi =
// 0. Other cells have d = 6, or more beside masked cells and holes on coarse grids.
#pragma once

#include <functional>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "gravity/coarse_grid_solver.hpp"
#include "gravity/mask.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/potential_solver.hpp"

namespace octant::gravity {

// Fields of a grid with `side`^3 cells per patch; offset_of_row() returns the index of a row.
struct GridView {
  int side = 0;
  const PatchTable* tables = nullptr;  // by own slot
  const StripTable* strips = nullptr;
  double* phi = nullptr;
  double* next = nullptr;  // output of passes, swapped with phi afterwards
  double* f = nullptr;
  const double* diagonal = nullptr;  // d of coarse grids; unused for unmasked patches
  GridMask mask;
};

// Patches of one launch of a pass. The first `open` patches have no masked cell in reach.
struct PatchGroup {
  DeviceArray<const std::int32_t> patches;
  int open = 0;
  std::uint64_t* cycles = nullptr;  // processor cycles by own slot; null: not counted

  // Number of patches.
  int count() const { return static_cast<int>(patches.extent(0)); }
};

// Runs one red-black sweep and restricts the residual to the right-hand side of the coarse grid.
// With `from_zero`, phi is taken to be 0. Unless `norms` is null, norms[patch] becomes the sum of
// the squared residuals. phi requires copies to a depth of 3, f and the diagonal to a depth of 2.
// Packs the parts of the results that `halo` requires.
void descend(const GridView& grid, const PatchGroup& group, bool from_zero, double* coarse_f,
             double* norms, const HaloMessage& halo = {});

// Adds the coarse correction by trilinear prolongation, then runs one red-black sweep. phi, the
// diagonal and the coarse phi require copies to a depth of 2. Packs the parts of the result that
// `halo` requires.
void ascend(const GridView& grid, const PatchGroup& group, const double* coarse_phi,
            const HaloMessage& halo = {});

// Function that returns field_norms() of phi (interpolated.hpp).
using MeasureField = std::function<FieldNorms(const DeviceArray<double>& phi)>;

// Norm of a right-hand side without boundary values: the root of the sum of `squares`, but at least
// `rounding` times the root of the number of `cells`, both over all ranks.
struct SourceNorm {
  SourceNorm(double norm) : least(norm) {}  // the norm over all ranks
  SourceNorm(const ReproducibleSum& own_squares, std::int64_t own_cells, double rounding_of_cell)
      : squares(own_squares), cells(own_cells), rounding(rounding_of_cell) {}

  ReproducibleSum squares;  // sum of squares over this rank's cells
  std::int64_t cells = 0;   // number of cells on this rank
  double rounding = 0.0, least = 0.0;
};

// First V-cycles of a solve whose residuals are reduced over ranks together with that of the next
// V-cycle, because they are not expected to converge. If the last of them does, the solve returns
// to its potential; if an earlier one does, it starts again without unchecked cycles: results do
// not depend on `count`.
struct UncheckedCycles {
  int count = 0;
  std::function<void(DeviceArray<double>& phi)> restore;  // sets the initial potential again
};

// Multigrid solver of one level, valid until the next regrid. All functions are collective.
class LevelSolver {
 public:
  // The level must outlive this object and must not move.
  LevelSolver(PatchLevel& level, const CommOptions& options);

  // Adds the processor cycles since the last call to own blocks, by slot; none on a device.
  void take_block_cycles(std::span<std::uint64_t> by_slot);

  // Mask of the finest grid.
  const GridMask& mask() const { return mask_; }

  // Improves phi until the norm of the residual of sum(neighbours) - 6 phi = f (boundary values
  // moved into f) is at most `tolerance` times the larger of two norms: `source`, and the variation
  // of phi, which is larger if mass outside the level dominates.
  // Norms are defined by PatchLevel::norm(). If rounding prevents convergence, the solve ends with
  // the residual at round-off (SolveReport::by_rounding). `measure` is called for phi with copies
  // to a depth of 2, and only if the first residual exceeds `source` or the residual stagnates.
  // Afterwards phi has copies to a depth of 2. Throws RunError after `most_cycles`.
  SolveReport solve(DeviceArray<double>& phi, const DeviceArray<double>& f,
                    const SourceNorm& source, double tolerance, int most_cycles,
                    const MeasureField& measure = {}, const UncheckedCycles& unchecked = {});

 private:
  struct Grid {
    int side = 0;
    DeviceArray<double> diagonal;  // d of coarse grids
    GridMask mask;
    HaloExchange* near = nullptr;  // phi to a depth of 2: that of the level, or own_near
    // After the downward pass: phi, and f of the next coarser grid; null for the coarsest grid.
    std::unique_ptr<HaloExchange> own_near, with_coarse_f;
    DeviceArray<double> phi, next, f;  // fields of coarse grids during a solve
  };
  void build_grids(const CommOptions& options);
  void group_patches();
  PatchGroup group(std::vector<std::int32_t> slots) const;
  HaloExchange& below(std::size_t g) const;
  GridView view(const Grid& grid) const;
  void descend(std::size_t g, double* norms);
  void ascend(std::size_t g);
  void correct();
  std::int64_t finest_rounds() const {
    return first_halo_->rounds() + below(0).rounds() + deep_halo_->rounds();
  }
  void return_to(const DeviceArray<double>& phi);
  void release_fields();
  SolveReport solve_again(DeviceArray<double>& phi, const DeviceArray<double>& f,
                          const SourceNorm& source, double tolerance, int most_cycles,
                          const MeasureField& measure, const UncheckedCycles& unchecked);
  SolveReport solve_coarse_grid(DeviceArray<double>& phi, const DeviceArray<double>& f,
                                const SourceNorm& source, double tolerance, int most_cycles,
                                const MeasureField& measure);
  [[noreturn]] void report_failure(const SolveReport& report, double tolerance) const;

  PatchLevel& level_;
  const LevelPatches& patches_;
  GridMask mask_;
  // All own patches, those without cells of other ranks in reach, and those with such cells.
  PatchGroup all_, inner_, border_;
  DeviceArray<std::uint64_t> cycles_;  // by own slot
  std::vector<Grid> grids_;
  DeviceArray<double> coarse_f_, coarse_phi_;
  // Finest grid: f and the initial phi, and phi to a depth of 3.
  std::unique_ptr<HaloExchange> first_halo_, deep_halo_;
  std::unique_ptr<CoarseGridSolver> coarse_grids_;
};

}  // namespace octant::gravity
