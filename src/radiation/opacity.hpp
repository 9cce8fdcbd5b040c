// Grey opacities of the gas as functions of density and temperature, in code units.
#pragma once

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "radiation/opacity_grid.hpp"

namespace octant::radiation {

// Opacity per mass at one density, as a function of the temperature: a clipped power law, or from a
// table.
struct OpacityAtDensity {
  double value;  // at the reference temperature; between floor and ceiling if exponent = 0
  double exponent, inverse_temperature;
  double floor, ceiling;
  OpacityRow row = {};  // of a table, which replaces the power law

  // Opacity at a positive temperature, and its exponent: zero at the floor and the ceiling.
  KOKKOS_FORCEINLINE_FUNCTION OpacityValue evaluate(double T) const {
    if (row.exists()) return row.at(T);
    if (exponent == 0.0) return {value, 0.0};
    const double kappa = min(max(value * power(T * inverse_temperature, exponent), floor), ceiling);
    return {kappa, kappa > floor && kappa < ceiling ? exponent : 0.0};
  }
  // Opacity at a positive temperature.
  KOKKOS_FORCEINLINE_FUNCTION double at(double T) const { return evaluate(T).kappa; }
  // True if the opacity does not depend on the temperature.
  KOKKOS_FORCEINLINE_FUNCTION bool is_constant() const { return exponent == 0.0 && !row.exists(); }
};

// Opacity per mass [area / mass], a clipped power law:
//   kappa = min(max(value (rho / density)^a (T / temperature)^b, floor), ceiling),
// or from a table. Exponents of zero cost no power. The reference values must be positive.
struct OpacityLaw {
  double value = 0.0;
  double density_exponent = 0.0, temperature_exponent = 0.0;  // a, b
  double density = 1.0, temperature = 1.0;                    // reference values
  double floor = 0.0, ceiling = 1e300;
  OpacityGrid table = {};  // replaces the power law if it exists
  int mean = 0;            // OpacityGrid::Mean

  // True unless the opacity is the same at all temperatures.
  KOKKOS_FORCEINLINE_FUNCTION bool depends_on_temperature() const {
    return temperature_exponent != 0.0 || table.exists();
  }
  // True if the opacity is the same at all densities and temperatures.
  KOKKOS_FORCEINLINE_FUNCTION bool is_constant() const {
    return density_exponent == 0.0 && !depends_on_temperature();
  }
  // The law at a positive density.
  KOKKOS_FORCEINLINE_FUNCTION OpacityAtDensity at_density(double rho) const {
    if (table.exists()) return {0.0, 0.0, 1.0, 0.0, 0.0, table.at_density(mean, rho)};
    const double a = density_exponent, b = temperature_exponent;
    const double growth = a == 0.0 ? 1.0 : a == 1.0 ? rho / density : power(rho / density, a);
    const double here = value * growth;
    if (b == 0.0) return {min(max(here, floor), ceiling), 0.0, 1.0, floor, ceiling};
    return {here, b, 1.0 / temperature, floor, ceiling};
  }
  // Opacity at a positive density and temperature.
  KOKKOS_FORCEINLINE_FUNCTION double at(double rho, double T) const {
    return at_density(rho).at(T);
  }
};

// Opacities of the exchange between gas and radiation. Copied to kernels by value.
struct Opacity {
  OpacityLaw planck;        // kappa_P: absorption of energy, and emission
  OpacityLaw rosseland;     // kappa_R: absorption of the flux
  double scattering = 0.0;  // per mass; acts on the flux alone

  // Absorption coefficient rho kappa_P of the energy [1 / length].
  KOKKOS_FORCEINLINE_FUNCTION double absorption(double rho, double T) const {
    return rho * planck.at(rho, T);
  }
  // Extinction coefficient rho (kappa_R + scattering) of the flux [1 / length].
  KOKKOS_FORCEINLINE_FUNCTION double extinction(double rho, double T) const {
    return rho * (rosseland.at(rho, T) + scattering);
  }

  // Opacities that depend on neither density nor temperature.
  static Opacity constant(double planck, double rosseland, double scattering = 0.0) {
    Opacity opacity;
    opacity.planck.value = planck;
    opacity.rosseland.value = rosseland;
    opacity.scattering = scattering;
    return opacity;
  }
  // Opacities `planck` and `rosseland` at the density rho0 and the temperature T0, proportional to
  // rho^a T^b, each between `floor` and `ceiling`.
  static Opacity power_law(double planck, double rosseland, double rho0, double T0, double a,
                           double b, double floor = 0.0, double ceiling = 1e300,
                           double scattering = 0.0) {
    Opacity opacity;
    opacity.planck = {planck, a, b, rho0, T0, floor, ceiling};
    opacity.rosseland = {rosseland, a, b, rho0, T0, floor, ceiling};
    opacity.scattering = scattering;
    return opacity;
  }
  // Opacities of a table.
  static Opacity tabulated(const OpacityGrid& table, double scattering = 0.0) {
    Opacity opacity;
    opacity.planck.table = opacity.rosseland.table = table;
    opacity.planck.mean = OpacityGrid::k_planck;
    opacity.rosseland.mean = OpacityGrid::k_rosseland;
    opacity.scattering = scattering;
    return opacity;
  }
  // Kramers' law: opacities proportional to rho T^-3.5.
  static Opacity kramers(double planck, double rosseland, double rho0, double T0,
                         double floor = 0.0, double ceiling = 1e300, double scattering = 0.0) {
    return power_law(planck, rosseland, rho0, T0, 1.0, -3.5, floor, ceiling, scattering);
  }
};

}  // namespace octant::radiation
