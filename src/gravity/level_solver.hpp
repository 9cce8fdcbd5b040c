// Multigrid for the Poisson equation on one level: V-cycles with one over-relaxed red-black sweep
// on the way down and one on the way up, on patches that are coarsened in place.
#pragma once

#include "gravity/bottom.hpp"
#include "gravity/patch_level.hpp"
#include "gravity/potential_solver.hpp"
#include "gravity/smoothing.hpp"

namespace octant::gravity {

// Everything that a level's solves have in common between two changes of the mesh. Collective.
class LevelSolver {
 public:
  // The level must outlive this, and stay where it is.
  LevelSolver(PatchLevel& level, const CommOptions& options);

  // Of the finest grid.
  const GridMask& mask() const { return mask_; }

  // Improves phi until the norm of the residual of  sum(neighbours) - 6 phi = f  (values outside
  // moved into f) is at most tolerance * reference, where `reference` is a norm of the sort that
  // PatchLevel::norm() returns. f needs copies to a depth of 2; phi has all copies to that depth
  // afterwards. Throws RunError, with numbers, after `most_cycles`.
  SolveReport solve(DeviceArray<double>& phi, const DeviceArray<double>& f, double reference,
                    double tolerance, int most_cycles);

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
  SolveReport solve_bottom(DeviceArray<double>& phi, const DeviceArray<double>& f, double reference,
                           double tolerance, int most_cycles);
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
