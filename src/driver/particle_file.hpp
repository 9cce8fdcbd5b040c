// Particles in snapshots and checkpoints: /particles/KIND, one dataset per column.
#pragma once

#include "io/hdf5_file.hpp"
#include "particles/particles.hpp"

namespace octant::driver {

// In the order of ids, whatever ranks hold them; exact to the last bit. Throws RunError on every
// rank. Collective.
void write_particles(Hdf5Writer& file, const particles::Particles& particles);

// Adds what write_particles has written, on any number of ranks. The mesh must be there. Throws
// InputError on every rank. Collective.
void read_particles(const Hdf5Reader& file, particles::Particles& particles);

}  // namespace octant::driver
