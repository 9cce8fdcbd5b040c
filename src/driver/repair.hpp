// Mends the unphysical cells of a sweep: first-order fluxes on all their faces, floors last.
#pragma once

#include "hydro/sweep.hpp"
#include "mesh/mesh.hpp"

namespace octant::driver {

// Mass and energy that floors have added so far, in code units.
struct Floored {
  std::int64_t cells = 0;
  double mass = 0, energy = 0;
};

// Repairs the new state of one stage on a level, on all ranks. A face that falls back to first
// order changes both of its cells, in other blocks and on other ranks too, and the flux registers
// that it counts in, by the same flux difference: the repair conserves. Cells that its neighbours'
// repair breaks are repaired in turn; what is left after a few rounds is raised to the floors, and
// `floored` counts it. Corrections are applied in the order of (block, cell, face), so that the
// bits do not depend on the ranks. `arguments` are those of the sweep over all tiles of the level.
// Collective.
void repair(mesh::Mesh& mesh, int level, const hydro::HydroOptions& options,
            const hydro::SweepArguments& arguments, Floored& floored);

}  // namespace octant::driver
