// Particles in snapshots and checkpoints: /particles/KIND, one dataset per column, each with its
// unit and meaning.
#pragma once

#include <span>
#include <string>

#include "driver/contents.hpp"
#include "io/hdf5_file.hpp"
#include "particles/particles.hpp"

namespace octant::driver {

// What files hold of a kind of particles, as long as these do not move.
ParticleContents contents_of(const particles::Particles& particles);

// In the order of ids, whatever ranks hold them. Single precision is for real numbers but
// positions, which it would shift by more than a fine cell. Throws RunError on every rank.
// Collective.
void write_particles(Hdf5Writer& file, const Communicator& communicator,
                     const ParticleContents& particles, Precision precision);

// Throws InputError on every rank unless the file has particles of just these kinds, with all of
// their columns: none is given initial values in place of what it had. Collective.
void require_particles(const Hdf5Reader& file, std::span<const particles::Particles> kinds);

// Adds what write_particles has written, on any number of ranks. The mesh must be there. Throws
// InputError on every rank. Collective.
void read_particles(const Hdf5Reader& file, particles::Particles& particles);

// How many particles of which kinds a file holds: a line each. Collective.
std::string describe_particles(const Hdf5Reader& file);

}  // namespace octant::driver
