// Particles near this rank's cells, whoever owns them: for what acts from a particle on the cells
// around it, such as explosions, accretion and jets.
#pragma once

#include <cstdint>
#include <span>

#include "particles/particles.hpp"

namespace octant::particles {

class ParticleHalo {
 public:
  // Of some particles of each rank, by their numbers, copies of all that have a leaf cell of this
  // rank's within `radius`: of that cell's octant, by the nearest image. A radius may span many
  // blocks, but not more than half a periodic domain (mesh::reach). Collective.
  ParticleHalo(const Particles& particles, std::span<const std::int64_t> own, double radius);

  // In the order of ids, own ones among them; positions as they are, to be looked at with
  // mesh::nearest_image().
  const ParticleBatch& particles() const { return particles_; }

 private:
  ParticleBatch particles_;
};

}  // namespace octant::particles
