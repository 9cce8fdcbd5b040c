// Particles near this rank's cells, whoever owns them: for what acts from a particle on the cells
// around it, such as explosions, accretion and jets.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "particles/particles.hpp"

namespace octant::particles {

// The way from one place to another in the domain: across periodic boundaries if that is shorter.
std::array<double, 3> nearest_image(const mesh::Geometry& geometry,
                                    const std::array<double, 3>& from,
                                    const std::array<double, 3>& to);

class ParticleHalo {
 public:
  // Of some particles of each rank, by their numbers, copies of all that have a leaf cell of this
  // rank's within `radius`: of that cell's octant, by the nearest image. A radius may span many
  // blocks, but not more than half a periodic domain. Collective; each copy goes to the owners of
  // the blocks around it and from there to those of finer ones, so that a rank sends and holds
  // nothing for ranks that are far.
  ParticleHalo(const Particles& particles, std::span<const std::int64_t> own, double radius);

  // In the order of ids, own ones among them; positions as they are, to be looked at with
  // nearest_image().
  const ParticleBatch& particles() const { return particles_; }

 private:
  ParticleBatch particles_;
};

}  // namespace octant::particles
