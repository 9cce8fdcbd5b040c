// Supercomoving units (Martel & Shapiro 1998) and what they are in physical ones.
//
// Length is in units of the box, density in units of the mean matter density, and time in 1 / H0
// with d tau = H0 dt / a^2. In them, gas of gamma = 5/3 obeys the equations of a box at rest, and
// the potential those of gravity with the coupling below.
#pragma once

#include "core/code_units.hpp"

namespace octant::cosmology {

// Mass per particle of neutral gas with a share of 0.24 of helium, in proton masses.
inline constexpr double k_molecular_weight = 1.22;

// A comoving, periodic box.
struct Box {
  double omega_m = 1.0, omega_b = 0.0;
  double h = 0.7;          // H0 / (100 km/s/Mpc)
  double megaparsecs = 1;  // side of the box today, in Mpc / h
};

// H0 in 1/s.
double hubble_constant(double h);
// Critical density today in g cm^-3: 3 H0^2 / (8 pi G).
double critical_density(double h);

// Length, mass and time of the code as physical (not comoving) quantities in cgs at scale factor a:
// a velocity of the code times units.velocity() is a peculiar velocity in cm/s, a pressure over a
// density times units.temperature() a temperature / mean molecular weight in K.
CodeUnits supercomoving_units(const Box& box, double a);

// Temperature in K of gas of the mean density that expansion alone has cooled since it left the
// cosmic background's at z = 137.
double unheated_temperature(double a);

// Poisson's equation in these units: laplacian(phi) = coupling (rho - 1) with 3/2 omega_m a.
double poisson_coupling(double omega_m, double a);

}  // namespace octant::cosmology
