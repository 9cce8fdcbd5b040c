// Going on from an output of RAMSES, whatever number of ranks wrote it.
//
// Octs become blocks of any size: level l of the file is level l - b of the mesh, whose base grid
// has 2^b cells along each axis. Blocks of 2^3 cells are the octs; larger ones cover them. What
// cells had to be refined beyond the file's, because blocks or the stencils of sweeps need them, is
// interpolated from the coarser cells so that means stay.
#pragma once

#include <string>
#include <vector>

#include "driver/amr_simulation.hpp"
#include "driver/owed_kick.hpp"
#include "driver/run.hpp"

namespace octant::driver {

// Where the header of a checkpoint has the names of such kinds that its run was given by an output
// of RAMSES.
inline constexpr const char* k_further_kinds = "further_kinds";

// The kinds of particles that an output of RAMSES, or a checkpoint of a run that began with one,
// brings along; `wish` and `directory` as find_checkpoint() has them. None for "", or if nothing is
// there that can be read. Collective.
std::vector<particles::Kind> kinds_of_restart(const Communicator& communicator,
                                              const std::string& wish,
                                              const std::string& directory);

// Replaces the simulation's state by that of a folder output_NNNNN: gas, scalars in their order,
// particles and time; gravity is solved for anew. Files are dealt out to the ranks in turn; each
// rank reads `chunk_files` of them at a time (0: all its own), one level after the other, and octs
// go to the owners of their blocks. Throws InputError on every rank, naming what differs, if the
// parameters do not fit the output, and naming file and record if a file is damaged. Collective.
struct RamsesRestart {
  OutputProgress progress;
  OwedKick owed;  // to be given before the first step; the state is what the files say until then
};
RamsesRestart read_ramses(AmrSimulation& simulation, const std::string& path, int chunk_files);

}  // namespace octant::driver
