// Repair of unphysical cells: every face of a bad cell falls back to a first-order flux.
#pragma once

#include <cstdint>
#include <vector>

#include "hydro/sweep.hpp"

namespace octant::hydro {

// A face of a bad cell, and where its flux difference begins in FallbackFluxes::difference.
struct FallbackFace {
  std::int32_t slot;   // block of the bad cell: index of its box
  std::int32_t cell;   // i + N (j + N k) in the block
  std::int8_t axis;    // normal of the face: 0, 1, 2
  std::int8_t side;    // 0: lower face of the cell, 1: upper face
};

// What a repair has to apply. Face f adds s a1 dt/dx difference[f * variables + n] to variable n of
// the bad cell's next state, s = +1 for its lower and -1 for its upper face, and the opposite to the
// cell on the other side (on a coarser neighbour, through the flux register with the sweep's weight).
// Two bad neighbours both list the face that they share, with the same bits: apply it once.
struct FallbackFluxes {
  int variables = 0;
  std::vector<FallbackFace> faces;  // in the order of (slot, cell, axis, side)
  std::vector<double> difference;   // [face][variable]: first-order minus high-order flux
};

// Finds the own cells with an unphysical next state in the tiles that the sweep flagged, and computes
// for each of their six faces the donor-cell LLF flux minus the flux that the sweep used (the same
// bits). Call it after sweep() with the same arguments, before anything changes its arrays.
FallbackFluxes fallback_fluxes(const HydroOptions& options, const SweepArguments& arguments);

// Raises density and pressure of the own cells of the flagged tiles to their floors, last of all.
struct FlooredAmounts {
  std::int64_t cells = 0;
  double mass = 0, energy = 0;  // added, in units of density and energy density times cell volume
};
FlooredAmounts apply_floors(const HydroOptions& options, const SweepArguments& arguments);

}  // namespace octant::hydro
