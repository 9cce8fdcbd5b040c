// Photons of young star particles.
#pragma once

#include <array>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "subgrid/ionization/stellar_table.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid::ionization {

// Group of photons that stars emit: variable of its energy in the mesh, energy of a photon, and the
// factor from emitted to stored energies, c' / c.
struct EmittedGroup {
  int variable = 0;
  double energy = 0.0, stored = 1.0;
};

// Adds the photons that stars on levels from sync.coarsest on emitted during the last step of their
// level to the cells that contain them, in the order of their ids. Returns their energy, on this
// rank. Local.
ReproducibleSum emit_from_stars(const SyncPoint& sync, const StellarTable& table,
                                std::span<const EmittedGroup> groups);

}  // namespace octant::subgrid::ionization
