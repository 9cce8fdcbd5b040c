// Snapshots and checkpoints of a DNS run, in one file layout.
//
//   /header     attributes: time, step, grid, parameters as text, ...
//   /grid/      x, y, z: centres of cells; x_face, y_face, z_face: their upper faces
//   /fields/    u, v, w, p: one dataset [k][j][i] each; u, v and w on the upper faces of the cells
//   /lower_faces/  u, v, w on those lower sides of the domain through which fluid leaves
//
// Beside a snapshot lies a description of it in XDMF, which ParaView opens.
#pragma once

#include <string>

#include "driver/dns_simulation.hpp"
#include "driver/run.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// Write a file, whole or not at all. Throw RunError on every rank if that fails. Collective.
void write_dns_snapshot(const DnsSimulation& simulation, const std::string& path);
void write_dns_checkpoint(const DnsSimulation& simulation, const OutputProgress& progress,
                          const std::string& path);

// Replaces the simulation's state by a checkpoint's, on any process grid. Throws InputError on
// every rank if the file is not a whole checkpoint of this problem and grid. Collective.
OutputProgress read_dns_checkpoint(DnsSimulation& simulation, const std::string& path);

// What a snapshot or checkpoint holds, as text for `octant info`. Collective.
std::string describe_dns_snapshot(const Hdf5Reader& file);

}  // namespace octant::driver
