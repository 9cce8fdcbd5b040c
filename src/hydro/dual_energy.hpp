// Keeping total energy and entropy in step.
#pragma once

#include "hydro/sweep.hpp"

namespace octant::hydro {

// Ends a step with dual energy, in the own cells of the tiles. Where less than the threshold of the
// total energy is internal, entropy rules: it stays as it was advected, and with
// DualEnergy::overwrite the total energy is reset from it. So it does, with overwrite, where the
// internal energy is less than what the velocity's changes between cells make of truncation error,
// as in cold gas that stands still amid an inflow.
// Everywhere else the entropy is reset from the total energy. Without dual energy this does
// nothing. `blocks` is laid out as the buffer k_own.
void synchronise_dual_energy(const HydroOptions& options, const mesh::TileSet& tiles,
                             double* blocks);

}  // namespace octant::hydro
