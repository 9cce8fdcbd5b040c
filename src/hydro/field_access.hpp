// Single fields of whole levels, as contiguous arrays: for output, restart and tools.
#pragma once

#include <vector>

#include "hydro/hydro_options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// What snapshots show of a variable (HydroOptions::variables), [block][k][j][i] of the blocks of a
// range: density, velocity, pressure, or the concentration of a scalar. Without floors.
std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, const mesh::CellRange& cells,
                                   int variable);

// Conserved variable n of the same, [block][k][j][i], exactly as it is stored, and back.
std::vector<double> read_conserved(const mesh::BlockLayout& layout, const double* blocks,
                                   const mesh::CellRange& cells, int n);
void write_conserved(const mesh::BlockLayout& layout, double* blocks, const mesh::CellRange& cells,
                     int n, const std::vector<double>& values);

}  // namespace octant::hydro
