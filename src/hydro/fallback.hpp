// Repair of unphysical cells: all faces of an unphysical cell get first-order fluxes.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/sweep.hpp"

namespace octant::hydro {

// Cell of this rank with an unphysical new state.
struct BadCell {
  std::int32_t slot;  // slot of the block in the buffer of own blocks
  std::int32_t cell;  // cell index i + N (j + N k) in the block
  std::int32_t tile;
  std::int16_t i, j, k;  // indices in the tile's patch
  std::int16_t unused;
};

// Returns the unphysical cells of `arguments.next` in the tiles that the sweep flagged, in the
// order of (slot, cell). Must be called after sweep() with the same arguments, or after a repair.
std::vector<BadCell> find_bad_cells(const HydroOptions& options, const SweepArguments& arguments);

// Flux differences for each of the cells and each of its six faces (lower x, upper x, lower y,
// ...): the first-order flux (donor cell, LLF) minus the flux of the sweep, of all variables:
//   result[(6 * cell + 2 * axis + side) * variables + n].
// A repair adds s a1 dt/dx times the difference to the next state of the cell, s = +1 for lower and
// -1 for upper faces, and subtracts it from the cell on the other side: for a coarser neighbour
// through the flux register, with `flux_weight`. Two adjacent bad cells both list their common
// face, with bitwise-identical differences: apply only one. `arguments` are those of the sweep, and
// `current` must be unchanged.
std::vector<double> fallback_differences(const HydroOptions& options,
                                         const SweepArguments& arguments,
                                         const std::vector<BadCell>& cells);

// Amounts per volume that floors add to a cell: mass, energy, and angular momentum about the
// origin, including the spin variables, if any.
struct FloorGain {
  double mass = 0.0, energy = 0.0, angular_momentum[3] = {0.0, 0.0, 0.0};
};

// Result of apply_floors(): repaired cells in the given order, and the amounts added to each, which
// the caller must sum reproducibly. `irreparable` lists cells whose state remains NaN or infinite.
struct FlooredCells {
  std::vector<BadCell> cells;
  std::vector<FloorGain> gains;
  std::vector<BadCell> irreparable;
};

// Raises density and pressure of the cells in `arguments.next` to their floors: the last resort
// after first-order fluxes. Momentum is unchanged, except in cells whose mass is raised.
FlooredCells apply_floors(const HydroOptions& options, const SweepArguments& arguments,
                          const std::vector<BadCell>& cells);

}  // namespace octant::hydro
