// Repair of unphysical cells: every face of a bad cell falls back to a first-order flux.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/sweep.hpp"

namespace octant::hydro {

// A cell of this rank whose next state is not physical.
struct BadCell {
  std::int32_t slot;  // block: index of its box
  std::int32_t cell;  // i + N (j + N k) in the block
  std::int32_t tile;
  std::int16_t i, j, k;  // in the tile's patch
  std::int16_t unused;
};

// The bad cells in the tiles that the sweep flagged, in the order of (slot, cell). Looks at
// `arguments.next`: call it after sweep() with the same arguments, or again after a repair.
std::vector<BadCell> find_bad_cells(const HydroOptions& options, const SweepArguments& arguments);

// For each of the cells and each of its six faces (lower x, upper x, lower y, ...): the first-order
// flux (donor cell, LLF) minus the flux that the sweep used, of all variables:
//   result[(6 * cell + 2 * axis + side) * variables + n].
// A repair adds s a1 dt/dx times this to the next state of the cell, s = +1 for lower and -1 for
// upper faces, and takes it from the cell on the other side: for a coarser neighbour through the
// register, with `flux_weight`. Two bad neighbours both list the face that they share, with the
// same bits: apply it once. `arguments` are those of the sweep, and `current` must still hold what
// it held.
std::vector<double> fallback_differences(const HydroOptions& options,
                                         const SweepArguments& arguments,
                                         const std::vector<BadCell>& cells);

// What the floors added: one value per cell that they raised, in the order of the cells, as
// densities; the caller sums them reproducibly. `hopeless` are the cells that no floor can mend
// (NaN).
struct FlooredCells {
  std::vector<double> mass, energy;
  std::vector<BadCell> hopeless;
};

// Raises density and pressure of the cells to their floors in `arguments.next`, last of all.
// Momentum is kept.
FlooredCells apply_floors(const HydroOptions& options, const SweepArguments& arguments,
                          const std::vector<BadCell>& cells);

}  // namespace octant::hydro
