// RAMSES outputs as initial conditions of a run, independent of the number of ranks that wrote
// them. export.cpp writes snapshots in this format. A program configured with OCTANT_RAMSES=OFF
// supports neither (commands/ramses_unavailable.cpp).
//
// Octs are converted to blocks of any size: level l of the file is level l - b of the mesh, whose
// base grid has 2^b cells along each axis. Blocks of 2^3 cells are the octs; larger ones cover
// several. Cells that blocks or stencils require beyond the refinement of the file are interpolated
// conservatively from coarser cells.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "output/output_options.hpp"
#include "particles/kind.hpp"

namespace octant {

class AmrSimulation;
class Communicator;

// Returns true if a path is a directory named like a RAMSES output. Collective.
bool is_ramses_output(const Communicator& communicator, const std::string& path);

// Kinds of particles in an output. Throws InputError. Collective.
std::vector<particles::Kind> ramses_kinds(const Communicator& communicator,
                                          const std::string& path);

// Result of read_ramses().
struct RamsesRestart {
  OutputProgress progress;
  // Adds the half kick that the files lack; call it before the first step, the first checkpoint and
  // the first RAMSES output. Until then the state is that of the files.
  std::function<void()> add_half_kick;
};
// Reads the output. Collective.
RamsesRestart read_ramses(AmrSimulation& simulation, const std::string& path, int chunk_files);

}  // namespace octant
