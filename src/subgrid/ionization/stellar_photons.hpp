// Photons of young star particles.
#pragma once

#include <span>

#include "subgrid/ionization/stellar_table.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid::ionization {

// Adds the photons per volume and time that stars emit over the step `dt` after `sync` to the cells
// that contain them, in the order of their ids; `variables` are those of the emission of each
// group. Stars that form or move during the step count from the next one on. Local.
void emit_from_stars(const SyncPoint& sync, double dt, const StellarTable& table,
                     std::span<const int> variables);

}  // namespace octant::subgrid::ionization
