// The multigrid solver for what is left of a level when every patch has been coarsened to a few
// cells: a list of cells on one rank, in any shape, on a grid of any extent.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "decomp/key_table.hpp"

namespace octant::gravity {

// A cell, and the share of it that the level's blocks cover.
struct CoarseCell {
  std::array<std::int64_t, 3> position;
  double cover;
};

// Solves sum(neighbours) - d phi = f (multiplied by h^2) with the diagonals of mask.hpp. Serial.
class CoarseSolver {
 public:
  static constexpr int k_sweeps = 2;              // before and after each coarse correction
  static constexpr std::int64_t k_few_cells = 8;  // need no coarser grid

  // The grid has `extent` cells along each axis; `finest`: it is the level itself, not coarsened.
  CoarseSolver(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
               const std::array<bool, 3>& periodic, bool finest);

  // One V-cycle; from phi = 0 if `from_zero`. f and phi in the order of the cells; phi of masked
  // cells is 0.
  void cycle(std::span<const double> f, std::span<double> phi, bool from_zero);

  std::int64_t bytes() const;  // of all grids

  // Sum of the squares of the residual.
  double residual_norm(std::span<const double> f, std::span<const double> phi) const;

 private:
  struct Grid {
    std::array<std::int64_t, 3> extent;
    int cells = 0;                                   // active ones; red before black
    std::vector<std::array<std::int32_t, 6>> next;   // neighbours; `cells` where masked
    std::vector<std::array<std::int32_t, 8>> above;  // coarse cells that interpolate to it
    std::vector<std::int32_t> parent;                // in the coarser grid, or its `cells`
    std::vector<double> diagonal;
    bool open = true;  // no boundary anywhere: the solution is known up to a constant
    mutable std::vector<double> phi, f;  // one more than cells: phi stays 0 there
  };
  using Positions = std::vector<std::array<std::int64_t, 3>>;

  Grid make_grid(const std::vector<CoarseCell>& cells, std::array<std::int64_t, 3> extent,
                 bool finest, std::vector<std::int32_t>& index_of) const;
  void link(Grid& fine, const Positions& fine_positions, const Grid& coarse,
            const KeyTable<std::int32_t>& coarse_index) const;
  bool wrap(std::array<std::int64_t, 3>& c, const std::array<std::int64_t, 3>& extent) const;
  void sweep(const Grid& grid, int times) const;
  void v_cycle(std::size_t g) const;
  void solve_coarsest(const Grid& grid) const;
  double neighbours(const Grid& grid, int c) const;

  std::array<bool, 3> periodic_;
  std::vector<std::int32_t> index_;  // of the given cells in the finest grid
  std::vector<Grid> grids_;
};

}  // namespace octant::gravity
