// Whole-level measurements of the stored state: totals, the fastest signal, broken cells.
#pragma once

#include <array>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// Volume integrals over the leaf cells. Momentum errors are measured against that of |rho v|.
enum GasSum {
  k_mass_sum,
  k_momentum_sum,
  k_total_energy_sum = k_momentum_sum + 3,
  k_kinetic_energy_sum,
  k_absolute_momentum_sum,
  k_gas_sums
};
using GasSums = std::array<ReproducibleSum, k_gas_sums>;

struct GasExtremes {
  double fastest = 0.0;  // largest |vx| + |vy| + |vz| + 3 c of all cells, leaf or not
  bool broken = false;   // some cell has a density or energy that is NaN or not positive
};

// Adds the integrals over a range of cells, each of that volume, on this rank.
GasExtremes measure_gas(const HydroOptions& options, const mesh::BlockLayout& layout,
                        const double* blocks, const mesh::CellRange& cells, double cell_volume,
                        GasSums& sums);

// The cells with a density or energy that is NaN or not positive, in the order of the range.
std::vector<mesh::Cell> broken_cells(const mesh::BlockLayout& layout, const double* blocks,
                                     const mesh::CellRange& cells);

// The largest |vx| + |vy| + |vz| + 3 c, at least 0.
double fastest_signal(const HydroOptions& options, const mesh::BlockLayout& layout,
                      const double* blocks, const mesh::CellRange& cells);

// --- gas that does not change along some axes (HydroOptions::dimensions) -------------------------

// The cells that differ from the first of their block along such an axis, in the range's order.
std::vector<mesh::Cell> varying_cells(const HydroOptions& options, const mesh::BlockLayout& layout,
                                      const double* blocks, const mesh::CellRange& cells);

// Whether cells of two sizes meet along such an axis in these tiles.
bool has_jumps_across(const HydroOptions& options, const mesh::TileSet& tiles);

}  // namespace octant::hydro
