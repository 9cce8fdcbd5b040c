// The multigrid solver for what is left of a level when every patch has been coarsened to a few
// cells: a list of cells on one rank, in any shape, on a grid of any extent.
//
// All of it lies in the memory of Kokkos' default execution space. A V-cycle is one kernel of one
// team of threads: the grids are too small to be worth more launches. Sums over cells are in their
// order, so that the team's size does not show in their bits.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decomp/key_table.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// A cell, the share of it that the level's blocks cover, and the mean row sum of its finer cells
// (cell_equation()), 0 where there are none.
struct CoarseCell {
  std::array<std::int64_t, 3> position;
  double cover, row_sum;
};

// The same of own patches, [slot][8]. The row sums are empty where nothing is masked.
struct BottomCells {
  DeviceArray<double> cover, row_sums;
};

// How V-cycles to a target went.
struct SolveOutcome {
  int cycles;
  double residual;
};

// A grid where kernels find it: its active cells, red ones first. Numbers of other cells are those
// of active ones, or one past the last where there is none.
struct CoarseGrid {
  int cells, red;
  bool open;  // no boundary anywhere: the solution is known up to a constant
  const std::array<std::int32_t, 6>* next;      // neighbours
  const std::array<std::int32_t, 8>* above;     // cells of the coarser grid that interpolate to it
  const std::array<std::int32_t, 8>* children;  // cells of the finer grid, in their order
  const double* diagonal;
  double *phi, *f;  // one more than cells: phi stays 0 there
};

// What kernels know of a solver.
struct CoarseGrids {
  DeviceArray<const CoarseGrid> grids;      // from the finest one on
  DeviceArray<const std::int32_t> index;    // of the given cells in the finest grid
  DeviceArray<double> residual, direction;  // of conjugate gradients in the coarsest grid
  DeviceArray<double> terms;                // of a sum over a grid
};

// Solves sum(neighbours) - d phi = f (multiplied by h^2) with the diagonals of mask.hpp. Of one
// rank.
class CoarseSolver {
 public:
  static constexpr int k_sweeps = 2;              // before and after each coarse correction
  static constexpr std::int64_t k_few_cells = 8;  // need no coarser grid

  // The grid has `extent` cells along each axis; `finest`: it is the level itself, not coarsened.
  CoarseSolver(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
               const std::array<bool, 3>& periodic, bool finest);

  // One V-cycle from phi = 0. f and phi in the order of the cells; phi of masked cells is 0. Does
  // not wait.
  void cycle(const double* f, double* phi) const;

  // V-cycles from phi = 0 until the norm of the residual is at most `target`, no longer falls, or
  // `most` were done.
  SolveOutcome solve(const double* f, double* phi, double target, int most) const;

  std::int64_t bytes() const;  // of all grids

 private:
  using Positions = std::vector<std::array<std::int64_t, 3>>;
  struct Tables;

  Tables make_tables(const std::vector<CoarseCell>& cells,
                     const std::array<std::int64_t, 3>& extent, bool finest,
                     std::vector<std::int32_t>& index_of) const;
  void link(Tables& fine, const Positions& fine_positions, Tables& coarse,
            const KeyTable<std::int32_t>& coarse_index) const;
  bool wrap(std::array<std::int64_t, 3>& c, const std::array<std::int64_t, 3>& extent) const;
  void place(const std::vector<Tables>& grids);

  std::array<bool, 3> periodic_;
  CoarseGrids grids_;  // in these arrays:
  DeviceArray<const std::array<std::int32_t, 6>> next_;
  DeviceArray<const std::array<std::int32_t, 8>> above_, children_;
  DeviceArray<const double> diagonal_;
  DeviceArray<double> phi_, f_;
};

}  // namespace octant::gravity
