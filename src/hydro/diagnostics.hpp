// Diagnostics of the stored state of whole levels: totals, largest signal speed, invalid cells, and
// single fields for output, restart and tools.
#pragma once

#include <array>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "hydro/hydro_options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// Volume integrals over the leaf cells. That of |rho v| is the scale of momentum errors.
enum GasSum {
  k_mass_sum,
  k_momentum_sum,
  k_total_energy_sum = k_momentum_sum + 3,
  k_kinetic_energy_sum,
  k_absolute_momentum_sum,
  k_gas_sums
};
using GasSums = std::array<ReproducibleSum, k_gas_sums>;

// Largest signal speed and validity of the gas in a range of cells, on this rank.
struct GasExtremes {
  double fastest = 0.0;  // largest |vx| + |vy| + |vz| + 3 c of all cells, leaf or not
  bool broken = false;   // some cell has a density or energy that is NaN or not positive
};

// Adds the integrals over a range of cells of the given volume to `sums`; returns extremes. Local.
GasExtremes measure_gas(const HydroOptions& options, const mesh::BlockLayout& layout,
                        const double* blocks, const mesh::CellRange& cells, double cell_volume,
                        GasSums& sums);

// Returns the cells with a density or energy that is NaN or not positive, in range order.
std::vector<mesh::Cell> cells_with_invalid_state(const mesh::BlockLayout& layout,
                                                 const double* blocks,
                                                 const mesh::CellRange& cells);

// Returns the number of leaf cells outside the table of the equation of state: outside the density
// range, hotter than the hottest isotherm, or as cold as the coldest one.
std::int64_t cells_outside_table(const HydroOptions& options, const mesh::BlockLayout& layout,
                                 const double* blocks, const mesh::CellRange& cells);

// Returns the largest |vx| + |vy| + |vz| + 3 c, at least 0.
double fastest_signal(const HydroOptions& options, const mesh::BlockLayout& layout,
                      const double* blocks, const mesh::CellRange& cells);

// --- check that the gas is uniform along unused axes (HydroOptions::dimensions) ----------------

// Returns, in range order, the cells whose state differs from that of the first cell of their block
// along an axis along which the gas must be uniform.
std::vector<mesh::Cell> varying_cells(const HydroOptions& options, const mesh::BlockLayout& layout,
                                      const double* blocks, const mesh::CellRange& cells);

// Returns true if these tiles contain a coarse-fine boundary normal to an axis along which the gas
// must be uniform.
bool has_level_change_across(const HydroOptions& options, const mesh::TileSet& tiles);

// --- single fields as contiguous arrays ----------------------------------------------------------

// Returns variable n (in the order of HydroOptions::variables) as in snapshots, [block][k][j][i]
// for the blocks of a range: density, velocity, pressure, the concentration of a scalar, or a
// separate field, in code units and without a pressure floor.
std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, const mesh::CellRange& cells,
                                   int variable);

// Returns conserved variable n exactly as stored, [block][k][j][i] for the blocks of a range.
std::vector<double> read_conserved(const mesh::BlockLayout& layout, const double* blocks,
                                   const mesh::CellRange& cells, int n);
// Stores `values`, [block][k][j][i], as conserved variable n: the inverse of read_conserved(), for
// restarts.
void write_conserved(const mesh::BlockLayout& layout, double* blocks, const mesh::CellRange& cells,
                     int n, const std::vector<double>& values);

}  // namespace octant::hydro
