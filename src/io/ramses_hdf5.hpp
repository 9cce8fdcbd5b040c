// The HDF5 output of cuRAMSES (its paper's fig. 6), output_NNNNN/data_NNNNN.h5: one file with the
// octs that each domain owns, and conserved variables: density, momentum, energy, densities of
// scalars.
#pragma once

#include <memory>

#include "io/ramses_source.hpp"

namespace octant {

// Adds what the header of facts.hdf5_file says, and what families of particles there are.
// Collective; throws InputError.
void read_ramses_hdf5_facts(const Communicator& communicator, RamsesFacts& facts);

// Opens the file. Collective; `facts` must outlive what it gives.
std::unique_ptr<RamsesSource> open_ramses_hdf5(const Communicator& communicator,
                                               const RamsesFacts& facts, int chunk);

// All sinks, on the root. Collective.
RamsesParticles read_ramses_hdf5_sinks(const Communicator& communicator, const RamsesFacts& facts);

}  // namespace octant
