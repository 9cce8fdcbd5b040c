// Whole-level measurements of the stored state: totals, the fastest signal, broken cells.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hydro/options.hpp"
#include "mesh/fields.hpp"

namespace octant::hydro {

// Sums over the leaf cells of a block, in units of the stored densities times cells.
struct BlockTotals {
  double mass = 0, momentum[3] = {0, 0, 0}, total_energy = 0, kinetic_energy = 0;
  double absolute_momentum = 0;  // of |rho v|: what momentum errors are measured against
  double fastest = 0;            // largest |vx| + |vy| + |vz| + 3 c of all cells, leaf or not
  std::int32_t leaf_cells = 0;
  std::int32_t broken_cell = -1;  // first cell with a density or energy that is NaN or not positive
};

// Measures the blocks in `slots`; `refined[n]` is the mask of refined octants of slots[n], whose
// cells do not count. The order of summation within a block is fixed. Host result in the order of
// `slots`.
std::vector<BlockTotals> measure_blocks(const HydroOptions& options,
                                        const mesh::BlockLayout& layout, const double* blocks,
                                        std::span<const int> slots,
                                        const std::vector<std::uint8_t>& refined);

}  // namespace octant::hydro
