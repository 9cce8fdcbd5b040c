// Output folders of RAMSES (Teyssier 2002): output_NNNNN with text about the run and, of every
// domain (a rank of the run that wrote it), one binary file of its octs, one of their gas, and one
// of its particles. They lie in the folder itself, or in group_00001, group_00002, ..., of which
// the first has the texts (IOGROUPSIZEREP).
//
// Files hold the octs level by level, of each level first those of domain 1, then of 2, ...: beside
// its own a domain keeps copies of its neighbours'; behind them come those beyond the walls.
// Variables are primitive: density, velocity, pressure, concentrations.
#pragma once

#include <memory>

#include "io/ramses_source.hpp"

namespace octant {

// Adds what the texts of facts.folder say. Throws InputError on every rank, naming the file, if one
// is missing or is not what RAMSES writes. Collective.
void read_ramses_texts(const Communicator& communicator, RamsesFacts& facts);

// Opens the files of all domains. Collective; `facts` must outlive what it gives.
std::unique_ptr<RamsesSource> open_ramses_folder(const Communicator& communicator,
                                                 const RamsesFacts& facts, int chunk);

// All sinks, on the root. Collective.
RamsesParticles read_ramses_sink_text(const Communicator& communicator, const RamsesFacts& facts);

}  // namespace octant
