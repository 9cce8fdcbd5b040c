// The files of Octant itself, of which docs/files.md describes every part: snapshots, cut-outs and
// checkpoints.
#pragma once

#include "driver/contents.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// Write all of the contents into a new file, to which the caller may add. Collective.
void write_contents(Hdf5Writer& file, const MeshContents& contents);
void write_contents(Hdf5Writer& file, const GridContents& contents);

// Writes "`stem`.h5", whole or not at all, and returns this path; of a grid's snapshot also a
// description in XDMF beside it, which ParaView opens. Throw RunError on every rank. Collective.
std::string write_octant_file(const MeshContents& contents, const std::string& stem);
std::string write_octant_file(const GridContents& contents, const std::string& stem);

}  // namespace octant::driver
