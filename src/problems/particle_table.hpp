// Dark-matter particles listed in a text file, such as ic_part of RAMSES (private to problems/).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "core/parameters.hpp"
#include "particles/particles.hpp"

namespace octant::problems {

// Text file with one line per particle: position x, y, z, velocity x, y, z and mass, in code units.
class ParticleTable {
 public:
  // Declares problem.particle_table and problem.particle_origin.
  void declare(ParameterSchema& schema);

  // Returns the kinds of the particles: dark matter, or none if no file is set.
  std::vector<particles::Kind> kinds() const;

  // Returns this rank's part of the particles, with ids in the order of lines. Each rank reads the
  // file. Throws InputError on every rank for lines without exactly seven numbers.
  particles::ParticleBatch share(const Communicator& communicator) const;

 private:
  std::string path_;
  std::array<double, 3> origin_{0.0, 0.0, 0.0};
};

}  // namespace octant::problems
