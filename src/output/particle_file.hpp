// Particles in snapshots and checkpoints: /particles/KIND, one dataset per column with its unit and
// meaning.
#pragma once

#include <span>
#include <string>

#include "io/hdf5_file.hpp"
#include "output/contents.hpp"
#include "particles/particles.hpp"

namespace octant {

// Contents of a particle kind, valid until particles move.
ParticleContents contents_of(const particles::Particles& particles);

// Writes particles in the order of ids, independent of the ranks. Single precision applies to real
// numbers except positions, which it would shift by more than a fine cell. Throws RunError on every
// rank. Collective.
void write_particles(Hdf5Writer& file, const Communicator& communicator,
                     const ParticleContents& particles, Precision precision);

// Throws InputError on every rank unless the file has exactly these kinds with all of their
// columns: missing columns are not replaced by initial values. Collective.
void require_particles(const Hdf5Reader& file, std::span<const particles::Particles> kinds);

// Adds particles written by write_particles, on any number of ranks. The mesh must exist. Throws
// InputError on every rank. Collective.
void read_particles(const Hdf5Reader& file, particles::Particles& particles);

// Describes the numbers of particles in a file, one line per kind. Collective.
std::string describe_particles(const Hdf5Reader& file);

}  // namespace octant
