// Ideal gas in equilibrium with its radiation.
//
// With theta = p_gas / rho = k T / (mu m_p), in units of velocity squared,
//   p = rho theta + a theta^4 / 3,  e = rho theta / (gamma - 1) + a theta^4,
// where a is the radiation energy density at theta = 1 (Mihalas & Mihalas 1984, Foundations of
// Radiation Hydrodynamics, sec. 71). Functions for kernels are in radiation_functions.hpp.
#pragma once

#include "core/compiler.hpp"

namespace octant::hydro {

// Gas and radiation, for kernels. Copied by value.
struct GasRadiation {
  double constant = 0.0;  // a, in units of density / velocity^6
  double gamma = 1.4;     // ratio of specific heats of the gas

  // Bounds of rho c^2 / p, and lower bound of p / ((gamma - 1) e).
  double largest_exponent() const { return gamma > 4.0 / 3.0 ? gamma : 4.0 / 3.0; }
  double smallest_exponent() const { return gamma < 4.0 / 3.0 ? gamma : 4.0 / 3.0; }
  double smallest_ratio() const { return gamma > 4.0 / 3.0 ? 1.0 / (3.0 * (gamma - 1.0)) : 1.0; }

  // Total pressure of gas with this theta.
  double pressure_of_theta(double rho, double theta) const {
    return rho * theta + constant / 3.0 * (theta * theta) * (theta * theta);
  }
};

}  // namespace octant::hydro
