// Outputs of RAMSES, output_NNNNN, whatever they hold: binary files of every domain, or the HDF5
// file of cuRAMSES.
#pragma once

#include <memory>
#include <string>

#include "io/ramses_source.hpp"

namespace octant {

// Whether a path is a folder that RAMSES would call an output. Collective.
bool is_ramses_output(const Communicator& communicator, const std::string& path);

// Reads what is said about the whole. Throws InputError on every rank, naming the file, if one is
// missing or is not what RAMSES writes. Collective.
RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path);

// Opens an output. Collective; `facts` must outlive what it gives.
std::unique_ptr<RamsesSource> open_ramses(const Communicator& communicator,
                                          const RamsesFacts& facts, int chunk,
                                          RamsesCells cells = RamsesCells::gas);

}  // namespace octant
