// How much of a cell's gas turns into stars in one free-fall time.
//
// Every model gives a factor of the parameter for the efficiency: 1 is the law of Schmidt, the same
// in all eligible gas. Quantities are in one system of units, with its gravitational constant G.
#pragma once

#include <numbers>

#include <Kokkos_Core.hpp>

#include "core/code_units.hpp"

namespace octant::subgrid {

// Of a pressureless sphere: sqrt(3 pi / (32 G rho)).
KOKKOS_INLINE_FUNCTION double free_fall_time(double density, double gravity) {
  return Kokkos::sqrt(3.0 * std::numbers::pi / (32.0 * gravity * density));
}

// The mean number of star quanta that form: stellar mass per time eps rho dx^3 / t_ff (Rasera &
// Teyssier 2006, eq. 3), over the mass of a quantum, times dt.
KOKKOS_INLINE_FUNCTION double mean_of_quanta(double efficiency, double gas_mass,
                                             double free_fall_time, double quantum, double dt) {
  return efficiency * gas_mass / quantum * dt / free_fall_time;
}

// What turbulence makes of the gas inside a cell: its state is that of the cell's mean.
struct TurbulentGas {
  double virial_parameter;  // 5 sigma^2 / (pi G rho dx^2)
  double mach;              // velocity dispersion over sound speed
};

KOKKOS_INLINE_FUNCTION double virial_parameter(double dispersion, double density, double dx,
                                               double gravity) {
  return 5.0 * dispersion * dispersion / (std::numbers::pi * gravity * density * dx * dx);
}

// The variance of ln(rho) in supersonic turbulence (Federrath & Klessen 2012, eq. 4), driven by a
// mixture of solenoidal and compressive forces.
KOKKOS_INLINE_FUNCTION double log_density_variance(double mach) {
  constexpr double k_b = 0.4;
  return Kokkos::log(1.0 + k_b * k_b * mach * mach);
}

// The least ln(rho / mean) that collapses: where the Jeans length is that of the sonic scale
// (Krumholz & McKee 2005; Federrath & Klessen 2012, table 1), or that of a shocked layer (Padoan &
// Nordlund 2011).
KOKKOS_INLINE_FUNCTION double critical_density_krumholz_mckee(const TurbulentGas& gas) {
  constexpr double k_phi_x = 0.19;
  return Kokkos::log(std::numbers::pi * std::numbers::pi / 5.0 * k_phi_x * k_phi_x *
                     gas.virial_parameter * gas.mach * gas.mach);
}
KOKKOS_INLINE_FUNCTION double critical_density_padoan_nordlund(const TurbulentGas& gas) {
  constexpr double k_theta = 0.97;
  return Kokkos::log(0.067 / (k_theta * k_theta) * gas.virial_parameter * gas.mach * gas.mach);
}

// Gas denser than that collapses, each density in its own free-fall time: "multi-freefall"
// (Federrath & Klessen 2012, eq. 41 and table 1), with 1 / phi_t = 0.49.
KOKKOS_INLINE_FUNCTION double multi_freefall(double variance, double critical_density) {
  constexpr double k_inverse_phi_t = 0.49;
  return 0.5 * k_inverse_phi_t * Kokkos::exp(0.375 * variance) *
         (1.0 + Kokkos::erf((variance - critical_density) / Kokkos::sqrt(2.0 * variance)));
}
KOKKOS_INLINE_FUNCTION double multi_freefall_krumholz_mckee(const TurbulentGas& gas) {
  return multi_freefall(log_density_variance(gas.mach), critical_density_krumholz_mckee(gas));
}
KOKKOS_INLINE_FUNCTION double multi_freefall_padoan_nordlund(const TurbulentGas& gas) {
  return multi_freefall(log_density_variance(gas.mach), critical_density_padoan_nordlund(gas));
}

// exp(-1.6 t_ff / t_dyn) with t_dyn = dx / (2 sqrt(sigma^2 + c_s^2)) (Padoan, Haugbolle & Nordlund
// 2012, eq. 1).
KOKKOS_INLINE_FUNCTION double padoan_efficiency(double free_fall_time, double dx, double dispersion,
                                                double sound_speed) {
  const double speed = Kokkos::sqrt(dispersion * dispersion + sound_speed * sound_speed);
  return Kokkos::exp(-1.6 * free_fall_time * 2.0 * speed / dx);
}

// All or nothing: whether gas is bound, |div v|^2 + |curl v|^2 < 2 G rho (Hopkins, Narayanan &
// Murray 2013, eq. 3).
KOKKOS_INLINE_FUNCTION double hopkins_efficiency(double divergence, double curl, double density,
                                                 double gravity) {
  const double squares = divergence * divergence + curl * curl;
  return squares < 2.0 * gravity * density ? 1.0 : 0.0;
}

// All or nothing: whether a cell is bound, with its dispersion and sound speed together, and
// densest at its centre.
KOKKOS_INLINE_FUNCTION double virial_efficiency(double virial_parameter,
                                                double laplacian_of_density) {
  return virial_parameter < 1.0 && laplacian_of_density < 0.0 ? 1.0 : 0.0;
}

// The law of Schaye & Dalla Vecchia (2008, eq. 20) with the parameters of EAGLE (Schaye et al.
// 2015): in gas that carries its own weight, the relation of surface densities by Kennicutt (1998).
// Everything is in cgs. Returns the rate of star formation per mass of gas, in s^-1.
struct PressureLaw {
  double amplitude = 1.515e-4;  // Msun yr^-1 kpc^-2
  double power = 1.4;
  double gas_fraction = 1.0;
};
KOKKOS_INLINE_FUNCTION double pressure_law_rate(const PressureLaw& law, double gamma,
                                                double pressure) {
  using namespace constants;
  constexpr double k_surface_density = k_solar_mass / (k_parsec * k_parsec);
  const double amplitude = law.amplitude * k_surface_density * 1e-6 / k_year;  // g s^-1 cm^-2
  const double surface_density =
      Kokkos::sqrt(gamma * law.gas_fraction * pressure / k_gravitational);
  return amplitude / k_surface_density *
         Kokkos::pow(surface_density / k_surface_density, law.power - 1.0);
}

// The least density at which stars form there, hydrogen nuclei per cm^3: 0.1 (Z / 0.002)^-0.64, at
// most 10 (Schaye 2004, eq. 24).
KOKKOS_INLINE_FUNCTION double pressure_law_threshold(double metallicity) {
  const double threshold = 0.1 * Kokkos::pow(metallicity / 0.002, -0.64);
  return threshold < 10.0 ? threshold : 10.0;
}

}  // namespace octant::subgrid
