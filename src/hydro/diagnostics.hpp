// Whole-level measurements of the stored state: totals, the fastest signal, broken cells.
#pragma once

#include <vector>

#include "hydro/hydro_options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// Sums over the leaf cells of a block, in units of the stored densities times cells.
struct BlockTotals {
  double mass = 0, momentum[3] = {0, 0, 0}, total_energy = 0, kinetic_energy = 0;
  double absolute_momentum = 0;  // of |rho v|: what momentum errors are measured against
  double fastest = 0;            // largest |vx| + |vy| + |vz| + 3 c of all cells, leaf or not
  bool broken = false;           // some cell has a density or energy that is NaN or not positive
};

// By block of the range.
std::vector<BlockTotals> measure_blocks(const HydroOptions& options,
                                        const mesh::BlockLayout& layout, const double* blocks,
                                        const mesh::CellRange& cells);

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
