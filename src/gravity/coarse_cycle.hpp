// V-cycles on a grid that is stored on one rank, and on all coarser grids. A grid is a list of
// cells that covers any region.
//
// All data lie in the memory of Kokkos' default execution space. A V-cycle is one kernel of one
// thread team, because the grids are too small for more launches. Sums run over cells in order, so
// that their bits do not depend on the size of the team.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "decomp/key_table.hpp"
#include "gravity/patches.hpp"

namespace octant::gravity {

// Over-relaxation factor, and number of sweeps before and after the coarse-grid correction on grids
// with 2^3 cells per patch and coarser ones. Finer grids have one sweep before and one after.
inline constexpr double k_relaxation = 1.2;
inline constexpr int k_coarse_sweeps = 2;

// --- arithmetic --------------------------------------------------------------------------------
// Lists of cells and patches distributed over ranks use the same functions and so give the same
// bits. A grid has the fields phi, f and diagonal, and
//   double beside(const double* field, Cell n, int face): value beyond a face, -x, x, -y, ...
//   double above(const double* field, Cell n, int corner): value of the coarse cell around cell n,
//     or of its neighbour along the axes whose bits are set, on the side of n.
// Both return 0 if there is no cell.

// Sum of the values in the six neighbours of a cell.
template <class Grid, class Cell>
KOKKOS_FORCEINLINE_FUNCTION double neighbours(const Grid& grid, Cell n, const double* field) {
  return ((grid.beside(field, n, 0) + grid.beside(field, n, 1)) +
          (grid.beside(field, n, 2) + grid.beside(field, n, 3))) +
         (grid.beside(field, n, 4) + grid.beside(field, n, 5));
}

// Residual f - (sum(neighbours) - diagonal phi) of a cell.
template <class Grid, class Cell>
KOKKOS_FORCEINLINE_FUNCTION double residual(const Grid& grid, Cell n) {
  return (grid.f[n] - neighbours(grid, n, grid.phi)) + grid.diagonal[n] * grid.phi[n];
}

// Relaxes one unmasked cell (Gauss-Seidel with over-relaxation).
template <class Grid, class Cell>
KOKKOS_FORCEINLINE_FUNCTION void relax(const Grid& grid, Cell n) {
  grid.phi[n] = (1.0 - k_relaxation) * grid.phi[n] +
                (neighbours(grid, n, grid.phi) - grid.f[n]) * (k_relaxation / grid.diagonal[n]);
}

// Prolongation: adds the interpolated coarse phi to a cell.
template <class Grid, class Cell>
KOKKOS_FORCEINLINE_FUNCTION void prolong(const Grid& grid, Cell n, const double* coarse) {
  constexpr double weights[4] = {27.0 / 64, 9.0 / 64, 3.0 / 64, 1.0 / 64};
  double correction = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    const int away = (corner & 1) + (corner >> 1 & 1) + (corner >> 2);
    correction += weights[away] * grid.above(coarse, n, corner);
  }
  grid.phi[n] += correction;
}

// --- V-cycles ----------------------------------------------------------------------------------

// Cell of a coarse grid: position, fraction that the blocks of the level cover, and mean row sum of
// the finer cells in it (cell_equation()), or 0 without finer cells.
struct CoarseCell {
  std::array<std::int64_t, 3> position;
  double cover, row_sum;
};

// Cover and row sums of own patches, [slot][8]. Row sums are empty if nothing is masked.
struct CoarseCells {
  DeviceArray<double> cover, row_sums;
};

// Number of V-cycles, and norm of the residual after the last one.
struct SolveOutcome {
  int cycles;
  double residual;
};

// Grid for kernels: active cells, red ones first. Neighbours, parents and children are indices of
// active cells, or the number of cells if there is none.
struct CellGrid {
  int cells, red;
  bool open;  // true if the grid has no boundary, so that equations are singular
  const std::array<std::int32_t, 6>* next;     // neighbours across the six faces, for each cell
  const std::array<std::int32_t, 8>* parents;  // coarse cells from which each cell is interpolated
  // cells of the finer grid in each cell, in ascending order
  const std::array<std::int32_t, 8>* children;
  const double* diagonal;
  double *phi, *f;  // cells + 1 elements; phi of the last one is 0

  // Value in the neighbour beyond a face.
  KOKKOS_FORCEINLINE_FUNCTION double beside(const double* field, int c, int face) const {
    return field[next[c][face]];
  }
  // Value in a coarse cell around the cell or beside that; see the interface of grids.
  KOKKOS_FORCEINLINE_FUNCTION double above(const double* field, int c, int corner) const {
    return field[parents[c][corner]];
  }
};

// Cells of the values of f and phi, as indices of the constructor's cells: those of f are all cells
// in any order, those of phi any cells.
struct CellOrders {
  std::vector<std::int32_t> f, phi;
};

// All grids of a solver, for kernels.
struct CellGrids {
  DeviceArray<const CellGrid> grids;  // all grids, finest first
  // Index in the finest grid of each value of f and of phi.
  DeviceArray<const std::int32_t> f_cells, phi_cells;
  DeviceArray<double> residual, direction;  // conjugate gradients on the coarsest grid
  DeviceArray<double> terms;                // terms of a sum over a grid
};

// Solves sum(neighbours) - d phi = f (multiplied by h^2) with the diagonals of mask.hpp, on one
// rank.
class CoarseCycle {
 public:
  // Maximum number of cells of the coarsest grid if extents are even.
  static constexpr std::int64_t k_coarsest_cells = 8;

  // `extent` is the number of cells of the grid along each axis. `finest` is true if the grid is
  // the level itself and not a coarse grid.
  CoarseCycle(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
              const std::array<bool, 3>& periodic, bool finest, const CellOrders& orders);

  // Runs one V-cycle from phi = 0. phi of masked cells becomes 0. Returns before the kernel has
  // finished.
  void cycle(const double* f, double* phi) const;

  // Runs V-cycles from phi = 0 until the norm of the residual is at most `target`, rounding
  // prevents further reduction, or `most` cycles have run.
  SolveOutcome solve(const double* f, double* phi, double target, int most) const;

  std::int64_t bytes() const;  // memory of all grids

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
  CellGrids grids_;  // views of the arrays below
  DeviceArray<const std::array<std::int32_t, 6>> next_;
  DeviceArray<const std::array<std::int32_t, 8>> parents_, children_;
  DeviceArray<const double> diagonal_;
  DeviceArray<double> phi_, f_;
};

}  // namespace octant::gravity
