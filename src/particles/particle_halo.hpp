// Particles near this rank's cells, of any owner: for processes that act on the cells around a
// particle, such as supernovae, accretion and jets.
#pragma once

#include <cstdint>
#include <span>

#include "particles/particles.hpp"

namespace octant::particles {

// Copies of the particles near this rank's cells.
class ParticleHalo {
 public:
  // Copies to this rank, from all ranks, the particles in `own` (indices on their rank) whose
  // distance to an octant with a leaf cell of this rank is at most `radius`, measured to the
  // nearest periodic image. A radius may span many blocks, but not more than half a periodic domain
  // (mesh::reach). Collective.
  ParticleHalo(const Particles& particles, std::span<const std::int64_t> own, double radius);

  // Copies, own particles included, in the order of ids. Positions are not shifted: use
  // mesh::nearest_image().
  const ParticleBatch& particles() const { return particles_; }

 private:
  ParticleBatch particles_;
};

}  // namespace octant::particles
