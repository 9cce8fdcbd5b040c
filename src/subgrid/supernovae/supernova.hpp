// A supernova, or as many as explode at once in a star that stands for a population.
#pragma once

#include "subgrid/events/event.hpp"

namespace octant::subgrid {

struct Supernova {
  EventPlace place;
  double velocity[3];  // of the star
  double mass;         // ejected, with what it swept up
  double energy;       // of the blast, beside the kinetic energy of the star's motion
  double metals;       // their share of the mass
};

// What ejecta bring with them beside the blast.
KOKKOS_INLINE_FUNCTION double energy_of_motion(const Supernova& event) {
  double square = 0.0;
  for (const double v : event.velocity) square += v * v;
  return 0.5 * event.mass * square;
}

}  // namespace octant::subgrid
