// The particles and sinks of a RAMSES output as kinds of particles.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/amr_simulation.hpp"
#include "io/ramses_source.hpp"

namespace octant::driver {

// All kinds that an output can bring, and those that this one does.
std::vector<particles::Kind> known_ramses_kinds();
std::vector<particles::Kind> kinds_of_families(const RamsesFacts& facts);

// Calls visit(name of the kind, particles, family) for the particles of each family that becomes a
// kind, some after others, with those that this rank has read; and for sinks. Collective.
using VisitFamily =
    std::function<void(const std::string& kind, const RamsesParticles& some, RamsesFamily family)>;
void for_families(const RamsesFacts& facts, RamsesSource& source, const VisitFamily& visit);

// Those of a family, as particles of a kind.
particles::ParticleBatch batch_of(const RamsesParticles& some, RamsesFamily family,
                                  const particles::Kind& kind, const mesh::Geometry& geometry);

// Adds all that an output has to the run's particles. Throws InputError on every rank, if there are
// not as many as the output says, too. Collective.
void read_ramses_particles(AmrSimulation& simulation, const RamsesFacts& facts,
                           RamsesSource& source);

}  // namespace octant::driver
