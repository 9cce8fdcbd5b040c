// Snapshots (for looking at) and checkpoints (for going on) of an AMR run, in one file layout.
//
//   /header                 attributes: time, step, geometry, units, parameters as text, ...
//   /mesh/level_L/          key, origin, refined, owner of every block, in the order of keys
//   /hydro/level_L/         one dataset [block][k][j][i] per variable: primitive in a snapshot,
//                           conserved and exact to the bit in a checkpoint; only where there is gas
//   /particles/KIND/        one dataset [particle] or [particle][3] per column, in the order of ids
#pragma once

#include <string>

#include "driver/amr_simulation.hpp"
#include "driver/contents.hpp"
#include "driver/run.hpp"

namespace octant::driver {

// Adds Newton's constant in code units, where a run has gravity and does not expand.
void add_gravity_constant(Facts& facts, const AmrOptions& options);

// What a snapshot shows, as [output] selects it, as long as the simulation stands still.
MeshContents snapshot_contents(const AmrSimulation& simulation);

// Writes "`stem`.h5", whole or not at all. Throws RunError on every rank if that fails. Collective.
void write_checkpoint(AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& stem);

// Replaces the simulation's state by a checkpoint's, on any number of ranks. Throws InputError on
// every rank if the file is not a whole checkpoint of this problem, domain, block size and set of
// variables. Collective.
OutputProgress read_checkpoint(AmrSimulation& simulation, const std::string& path);

}  // namespace octant::driver
