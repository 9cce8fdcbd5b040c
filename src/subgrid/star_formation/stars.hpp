// Stars as particles: each stands for a population that formed at once.
#pragma once

#include "particles/kind.hpp"

namespace octant::subgrid {

inline particles::Kind stars() {
  return {.name = "stars",
          .description = "stars",
          .columns = {{"birth_time", "time", "time at which the star formed"},
                      {"birth_scale_factor", "1", "scale factor at that time", 1.0},
                      {"metallicity", "1", "mass share of metals"},
                      {"initial_mass", "mass", "mass with which the star formed"}}};
}

}  // namespace octant::subgrid
