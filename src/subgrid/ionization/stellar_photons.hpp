// Photons of young star particles.
#pragma once

#include <span>

#include "subgrid/ionization/stellar_table.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid::ionization {

// Group of photons that stars emit: variable of its emission in the mesh, and energy of a photon.
struct EmittedGroup {
  int variable = 0;
  double energy = 0.0;
};

// Adds the energy per volume and time of the photons that stars emit over the step `dt` after
// `sync` to the cells that contain them, in the order of their ids. Stars that form or move during
// the step count from the next one on. Local.
void emit_from_stars(const SyncPoint& sync, double dt, const StellarTable& table,
                     std::span<const EmittedGroup> groups);

}  // namespace octant::subgrid::ionization
