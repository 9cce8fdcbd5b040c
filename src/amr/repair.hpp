// Repair of unphysical cells after a sweep: first-order fluxes on all their faces, then floors.
#pragma once

#include <array>
#include <cstdint>

#include "hydro/sweep.hpp"
#include "mesh/mesh.hpp"

namespace octant {

// Cumulative amounts that floors have added, in code units: mass, energy, and angular momentum
// about the origin, including the spin variables, if any.
struct Floored {
  std::int64_t cells = 0;
  double mass = 0, energy = 0;
  std::array<double, 3> angular_momentum{};
};

// Repairs the new state of a stage on a level, on all ranks. First-order fallback of a face changes
// both cells of the face, also in other blocks and on other ranks, and the flux registers by the
// same flux difference: the repair is conservative. Cells that become unphysical by the repair of
// neighbours are repaired in turn; those left after a few rounds are raised to the floors and
// counted in `floored`. Corrections are applied in the order of (block, cell, face), so that the
// bits do not depend on the ranks. `arguments` are those of the sweep over all tiles of the level.
// Collective.
void repair(mesh::Mesh& mesh, int level, const hydro::HydroOptions& options,
            const hydro::SweepArguments& arguments, Floored& floored);

}  // namespace octant
