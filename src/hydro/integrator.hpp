// The stages of each time integrator, as weights of the sweeps that make up a step.
#pragma once

#include <span>

#include "hydro/options.hpp"

namespace octant::hydro {

// One sweep:  next = old_weight * old + new_weight * (current + dt L(current)).
struct Stage {
  double old_weight, new_weight;
  double flux_weight;  // share of this sweep's fluxes in the flux of the whole step
  double time;         // when `current` is valid, in units of dt after the start of the step
  bool last;           // whether it ends the step
};

// Hancock's predictor makes one sweep second-order accurate; the Runge-Kutta schemes are the
// strong-stability-preserving ones of Shu & Osher (1988), of order two (Heun) and three.
inline constexpr Stage k_hancock_stages[] = {{0.0, 1.0, 1.0, 0.0, true}};
inline constexpr Stage k_rk2_stages[] = {{0.0, 1.0, 0.5, 0.0, false}, {0.5, 0.5, 0.5, 1.0, true}};
inline constexpr Stage k_rk3_stages[] = {{0.0, 1.0, 1.0 / 6.0, 0.0, false},
                                         {0.75, 0.25, 1.0 / 6.0, 1.0, false},
                                         {1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.5, true}};

inline std::span<const Stage> stages(Scheme scheme) {
  switch (scheme) {
    case Scheme::rk2: return k_rk2_stages;
    case Scheme::rk3: return k_rk3_stages;
    default: return k_hancock_stages;
  }
}

}  // namespace octant::hydro
