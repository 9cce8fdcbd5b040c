// What a flow is like as a whole: energy, means, extremes, divergence, and how long a step it
// allows.
#pragma once

#include <array>

#include "dns/incompressible_flow.hpp"

namespace octant::dns {

// Means are over the volume, and the same bits on any number of ranks.
struct Totals {
  Vector kinetic{};                    // mean of 1/2 q^2 of each component
  Vector mean{};                       // of each component
  Vector largest{};                    // absolute value of each component
  Vector force{};                      // likewise of the body force
  double divergence = 0.0;             // largest absolute value
  double scaled_divergence = 0.0;      // the same divided by advection_rate
  double advection_rate = 0.0;         // largest |u|/dx + |v|/dy + |w|/dz
  std::array<double, 2> wall_shear{};  // viscosity du/dz at the lower and upper side along z

  double scalar_mean = 0.0;             // of the scalar
  double scalar_range = 0.0;            // between its extremes, values at the sides among them
  std::array<double, 2> scalar_flux{};  // -diffusivity d/dz of it at both sides along z

  double kinetic_energy() const { return kinetic[0] + kinetic[1] + kinetic[2]; }
};

// Throws RunError, naming a cell and its values, if the state holds what is no number. Collective.
Totals measure(const Flow& flow);

// The longest step, times cfl, that is stable by linear theory from its beginning to its end: the
// advection and diffusion that are explicit must stay within sqrt(3) and 2.51, the limits of Wray's
// scheme on the imaginary and the real axis. The velocities are those of the flow, of its walls and
// of what enters and leaves, and what the forcing adds to them within the step; nor shall fluid
// that rises from rest by its buoyancy cross more cells. Infinite where nothing moves or will.
double stable_step(const Flow& flow, const Totals& totals, double cfl);

}  // namespace octant::dns
