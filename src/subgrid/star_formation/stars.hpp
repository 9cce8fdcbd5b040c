// Star particles, each of which represents a single stellar population.
#pragma once

#include "particles/kind.hpp"

namespace octant::subgrid {

// Particle kind of stars, with its columns.
inline particles::Kind stars() {
  return {.name = "stars",
          .description = "stars",
          .columns = {{"birth_time", "time", "formation time of the star particle"},
                      {"birth_scale_factor", "1", "scale factor at formation", 1.0},
                      {"metallicity", "1", "metal mass fraction"},
                      {"initial_mass", "mass", "mass at formation"}}};
}

}  // namespace octant::subgrid
