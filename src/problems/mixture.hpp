// A cell that two gases share.
#pragma once

#include "problems/problem.hpp"

namespace octant::problems {

// The mean over a cell of which `fraction` holds `first` and the rest `second`: mass, momentum and
// total energy of the mixture are those of its parts. Scalars are left out.
inline GasState mixture(const GasState& first, const GasState& second, double fraction,
                        double gamma) {
  if (fraction >= 1.0) return first;
  if (fraction <= 0.0) return second;
  const double mass1 = fraction * first.density, mass2 = (1.0 - fraction) * second.density;
  GasState mean;
  mean.density = mass1 + mass2;
  double relative_squared = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    mean.velocity[axis] =
        (mass1 * first.velocity[axis] + mass2 * second.velocity[axis]) / mean.density;
    const double relative = first.velocity[axis] - second.velocity[axis];
    relative_squared += relative * relative;
  }
  // The kinetic energy of the parts relative to each other becomes heat.
  const double heat = 0.5 * mass1 * mass2 / mean.density * relative_squared;
  mean.pressure =
      fraction * first.pressure + (1.0 - fraction) * second.pressure + (gamma - 1.0) * heat;
  return mean;
}

}  // namespace octant::problems
