// Snapshots (for looking at) and checkpoints (for going on) of an AMR run, in one file layout.
//
//   /header                 attributes: time, step, geometry, units, parameters as text, ...
//   /mesh/level_L/          key, origin, refined, owner of every block, in the order of keys
//   /hydro/level_L/         one dataset [block][k][j][i] per variable: primitive in a snapshot,
//                           conserved and exact to the bit in a checkpoint
#pragma once

#include <string>

#include "driver/amr_simulation.hpp"

namespace octant::driver {

// What the outputs of a run have come to; part of a checkpoint.
struct OutputProgress {
  std::int64_t next_snapshot = 0, next_checkpoint = 0;  // numbers of the next files
  double last_snapshot_time = 0.0;
};

// Write a file, whole or not at all. Throw RunError on every rank if that fails. Collective.
void write_snapshot(const AmrSimulation& simulation, const std::string& path);
void write_checkpoint(const AmrSimulation& simulation, const OutputProgress& progress,
                      const std::string& path);

// Replaces the simulation's state by a checkpoint's, on any number of ranks. Throws InputError on
// every rank if the file is not a whole checkpoint of this problem, domain, block size and set of
// variables. Collective.
OutputProgress read_checkpoint(AmrSimulation& simulation, const std::string& path);

// The checkpoint that --restart names: `wish` is a path, or "latest" for the newest whole one in
// the directory. Throws InputError if there is none. Collective.
std::string find_checkpoint(const Communicator& communicator, const std::string& wish,
                            const std::string& directory);

// Removes all but the newest checkpoints. On the root.
void remove_old_checkpoints(const std::string& directory, int keep);

// What a snapshot or checkpoint holds, as text for `octant info`. Collective.
std::string describe_snapshot(const Communicator& communicator, const std::string& path);

}  // namespace octant::driver
