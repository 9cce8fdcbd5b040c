// Multigrid for the Poisson equation on one level: V-cycles with one over-relaxed red-black sweep
// on the way down and one on the way up, on patches that are coarsened in place.
#pragma once

#include <functional>

#include "gravity/bottom.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/smoothing.hpp"

namespace octant::gravity {

// Finds field_norms() (interpolated.hpp).
using MeasureField = std::function<FieldNorms(const DeviceArray<double>& phi)>;

// Everything that a level's solves have in common between two changes of the mesh. Collective.
class LevelSolver {
 public:
  // The level must outlive this, and stay where it is.
  LevelSolver(PatchLevel& level, const CommOptions& options);

  // Of the finest grid.
  const GridMask& mask() const { return mask_; }

  // Improves phi until the norm of the residual of  sum(neighbours) - 6 phi = f  (values outside
  // moved into f) is at most `tolerance` times the larger of two norms: `source`, that of f before
  // values outside were moved into it, and the variation of phi, which counts where most of the
  // field comes from outside. Norms are of the sort that PatchLevel::norm() returns. Where rounding
  // does not allow that, the solve ends with the least residual that it allows
  // (SolveReport::by_rounding). `measure` is called for phi with all copies to a depth of 2, and
  // seldom: where the first residual exceeds `source`, or the residual no longer falls. f needs
  // copies to a depth of 2; phi has all copies to that depth afterwards. Throws RunError, with
  // numbers, after `most_cycles`.
  SolveReport solve(DeviceArray<double>& phi, const DeviceArray<double>& f, double source,
                    double tolerance, int most_cycles, const MeasureField& measure = {});

 private:
  struct Grid {
    int side = 0;
    DeviceArray<double> diagonal;  // of coarse grids
    GridMask mask;
    HaloExchange* near = nullptr;  // to a depth of 2: the level's or its own
    std::unique_ptr<HaloExchange> own_halo;
    DeviceArray<double> phi, next, f;  // of coarse grids, while a solve is under way
  };
  void build_grids(const CommOptions& options);
  void group_patches();
  GridView view(const Grid& grid) const;
  void descend(std::size_t g, double* norms);
  void ascend(std::size_t g);
  double descend_finest(const DeviceArray<double>& norms);
  void correct();
  std::int64_t finest_rounds() const { return grids_[0].near->rounds() + deep_halo_->rounds(); }
  SolveReport solve_bottom(DeviceArray<double>& phi, const DeviceArray<double>& f, double source,
                           double tolerance, int most_cycles, const MeasureField& measure);
  [[noreturn]] void give_up(const SolveReport& report, double tolerance) const;

  PatchLevel& level_;
  const LevelPatches& patches_;
  GridMask mask_;
  // Own patches: [whether they need other ranks' cells].
  PatchGroup groups_[2];
  std::vector<Grid> grids_;
  DeviceArray<double> bottom_f_, bottom_phi_;
  std::unique_ptr<HaloExchange> deep_halo_;  // of the finest grid, to a depth of 3
  std::unique_ptr<Bottom> bottom_;
};

}  // namespace octant::gravity
