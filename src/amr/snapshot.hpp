// Snapshots (for analysis) and checkpoints (for restarts) of an AMR run, in one file layout.
//
//   /header                 attributes: time, step, geometry, units, parameters as text, ...
//   /mesh/level_L/          key, origin, refined, owner of every block, in the order of keys
//   /hydro/level_L/         one dataset [block][k][j][i] per variable: primitive in a snapshot,
// conserved with all bits in a checkpoint; only in runs with gas
//   /particles/KIND/        one dataset [particle] or [particle][3] per column, in the order of ids
#pragma once

#include <string>

#include "amr/amr_simulation.hpp"
#include "output/contents.hpp"
#include "run/run.hpp"

namespace octant {

// Adds the gravitational constant in code units for runs with gravity and without expansion.
void add_gravity_constant(Attributes& attributes, const AmrOptions& options);

// Contents of a snapshot as selected by [output]; valid until the simulation changes.
MeshContents snapshot_contents(const AmrSimulation& simulation);

// Writes "`stem`.h5" atomically. Throws RunError on every rank on failure. Collective.
void write_checkpoint(AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& stem);

// Replaces the simulation's state by that of a checkpoint, on any number of ranks. Throws
// InputError on every rank if the file is not a complete checkpoint of this problem, domain, block
// size and set of variables. Collective.
OutputProgress read_checkpoint(AmrSimulation& simulation, const std::string& path);

}  // namespace octant
