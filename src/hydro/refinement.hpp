// Refinement criteria of the gas, which flag octants of blocks for refinement.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/hydro_options.hpp"
#include "mesh/tiles.hpp"

namespace octant::hydro {

// Measures of refinement criteria.
enum class RefinementKind {
  gradient,           // largest over the axes of |q+ - q-| / (|q+| + |q-| + floor)
  second_derivative,  // Löhner (1987): |d2 q| over |dq| and a noise term, one ratio for all axes
  density,            // the density itself
  // pressure / density^2; cells are flagged where it is below `threshold`
  jeans
};

// Criterion that flags a cell if its measure exceeds `threshold` (jeans: falls below). `variable`
// is the index of a primitive variable (k_density ... k_pressure, then scalars as concentrations);
// the last two kinds ignore it.
struct RefinementCriterion {
  RefinementKind kind = RefinementKind::gradient;
  int variable = 0;
  double threshold = 0.1;
  double floor = 0;  // added to denominators, in units of the variable
};

// Sets masks[slot] for each own block of the tiles: the octants with cells within `buffer` cells
// (<= N/2) of one of the block's flagged cells. Bit ix + 4 iy + 16 iz stands for an octant in and
// around the block: index 0 is the adjacent row of octants of the lower neighbour, 1 and 2 are the
// block's own, and 3 is that of the upper neighbour. Reads one ghost cell across faces. A cell is
// flagged if it meets any criterion.
void flag_cells(const HydroOptions& options, const mesh::TileSet& tiles,
                const mesh::FieldPointers& current,
                const std::vector<RefinementCriterion>& criteria, int buffer,
                const mesh::DeviceArray<std::uint64_t>& masks);

}  // namespace octant::hydro
