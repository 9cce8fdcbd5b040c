// Snapshots and checkpoints of a DNS run, in one file layout.
//
//   /header     attributes: time, step, grid, parameters as text, ...
//   /grid/      x, y, z: centres of cells; x_face, y_face, z_face: their upper faces
//   /fields/    u, v, w, p: one dataset [k][j][i] each; u, v and w on the upper faces of the cells
//   /lower_faces/  u, v, w on those lower sides of the domain through which fluid leaves
#pragma once

#include <string>

#include "driver/contents.hpp"
#include "driver/dns_simulation.hpp"
#include "driver/run.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// What a snapshot shows, as [output] selects it, as long as the simulation stands still.
GridContents dns_snapshot_contents(const DnsSimulation& simulation);

// Writes "`stem`.h5", whole or not at all. Throws RunError on every rank if that fails. Collective.
void write_dns_checkpoint(const DnsSimulation& simulation, const OutputProgress& progress,
                          const std::string& stem);

// Replaces the simulation's state by a checkpoint's, on any process grid. Throws InputError on
// every rank if the file is not a whole checkpoint of this problem and grid. Collective.
OutputProgress read_dns_checkpoint(DnsSimulation& simulation, const std::string& path);

}  // namespace octant::driver
