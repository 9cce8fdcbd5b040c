// Single fields of whole levels, as contiguous arrays: for output, restart and tools.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hydro/options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// A primitive field as snapshots name it; `scalars` are the names of the scalars.
struct PrimitiveField {
  std::string name, units, description;
  int variable;  // Primitive, then scalars (with the entropy first if there is dual energy)
};
std::vector<PrimitiveField> primitive_fields(const HydroOptions& options,
                                             std::span<const std::string> scalars);

// Primitive variable of the blocks of a range, [block][k][j][i]: density, velocity, pressure, or
// the concentration of a scalar. Without floors.
std::vector<double> read_primitive(const HydroOptions& options, const mesh::BlockLayout& layout,
                                   const double* blocks, const mesh::CellRange& cells,
                                   int variable);

// Conserved variable n of the same, [block][k][j][i], exactly as it is stored, and back.
std::vector<double> read_conserved(const mesh::BlockLayout& layout, const double* blocks,
                                   const mesh::CellRange& cells, int n);
void write_conserved(const mesh::BlockLayout& layout, double* blocks, const mesh::CellRange& cells,
                     int n, const std::vector<double>& values);

}  // namespace octant::hydro
