// Star formation efficiency per free-fall time.
//
// Every model gives a factor that multiplies stars.efficiency; the factor of the Schmidt law is 1.
// Quantities are in any consistent system of units with the gravitational constant `gravity`.
#pragma once

#include <array>
#include <numbers>

#include <Kokkos_Core.hpp>

#include "core/units.hpp"
#include "hydro/gas_gradients.hpp"

namespace octant::subgrid {

// Free-fall time of a pressureless sphere: sqrt(3 pi / (32 G rho)).
KOKKOS_INLINE_FUNCTION double free_fall_time(double density, double gravity) {
  return Kokkos::sqrt(3.0 * std::numbers::pi / (32.0 * gravity * density));
}

// Mean number of mass quanta that form stars in dt, at the star formation rate eps rho dx^3 / t_ff
// (Rasera & Teyssier 2006, eq. 3).
KOKKOS_INLINE_FUNCTION double mean_of_quanta(double efficiency, double gas_mass,
                                             double free_fall_time, double quantum, double dt) {
  return efficiency * gas_mass / quantum * dt / free_fall_time;
}

// Turbulence of the gas in a cell.
struct TurbulentGas {
  double virial_parameter;  // 5 sigma^2 / (pi G rho dx^2)
  double mach;              // velocity dispersion / sound speed
};

// Virial parameter of a cell, from its velocity dispersion.
KOKKOS_INLINE_FUNCTION double virial_parameter(double dispersion, double density, double dx,
                                               double gravity) {
  return 5.0 * dispersion * dispersion / (std::numbers::pi * gravity * density * dx * dx);
}

// Variance of ln(rho) in supersonic turbulence (Federrath & Klessen 2012, eq. 4) with mixed
// solenoidal and compressive driving.
KOKKOS_INLINE_FUNCTION double log_density_variance(double mach) {
  constexpr double k_b = 0.4;
  return Kokkos::log(1.0 + k_b * k_b * mach * mach);
}

// Minimum ln(rho / mean) for collapse, at which the Jeans length equals the sonic scale (Krumholz &
// McKee 2005; Federrath & Klessen 2012, table 1).
KOKKOS_INLINE_FUNCTION double critical_density_krumholz_mckee(const TurbulentGas& gas) {
  constexpr double k_phi_x = 0.19;
  return Kokkos::log(std::numbers::pi * std::numbers::pi / 5.0 * k_phi_x * k_phi_x *
                     gas.virial_parameter * gas.mach * gas.mach);
}
// Minimum ln(rho / mean) for collapse, from the thickness of shocked layers (Padoan & Nordlund
// 2011).
KOKKOS_INLINE_FUNCTION double critical_density_padoan_nordlund(const TurbulentGas& gas) {
  constexpr double k_theta = 0.97;
  return Kokkos::log(0.067 / (k_theta * k_theta) * gas.virial_parameter * gas.mach * gas.mach);
}

// Multi-freefall efficiency, with 1 / phi_t = 0.49: all gas above the critical density collapses,
// each density on its own free-fall time (Federrath & Klessen 2012, eq. 41 and table 1).
KOKKOS_INLINE_FUNCTION double multi_freefall(double variance, double critical_density) {
  constexpr double k_inverse_phi_t = 0.49;
  return 0.5 * k_inverse_phi_t * Kokkos::exp(0.375 * variance) *
         (1.0 + Kokkos::erf((variance - critical_density) / Kokkos::sqrt(2.0 * variance)));
}
// Multi-freefall efficiency with the critical density of Krumholz & McKee (2005).
KOKKOS_INLINE_FUNCTION double multi_freefall_krumholz_mckee(const TurbulentGas& gas) {
  return multi_freefall(log_density_variance(gas.mach), critical_density_krumholz_mckee(gas));
}
// Multi-freefall efficiency with the critical density of Padoan & Nordlund (2011).
KOKKOS_INLINE_FUNCTION double multi_freefall_padoan_nordlund(const TurbulentGas& gas) {
  return multi_freefall(log_density_variance(gas.mach), critical_density_padoan_nordlund(gas));
}

// Efficiency exp(-1.6 t_ff / t_dyn) with t_dyn = dx / (2 sqrt(sigma^2 + c_s^2)) (Padoan, Haugbolle
// & Nordlund 2012, eq. 1).
KOKKOS_INLINE_FUNCTION double padoan_efficiency(double free_fall_time, double dx, double dispersion,
                                                double sound_speed) {
  const double speed = Kokkos::sqrt(dispersion * dispersion + sound_speed * sound_speed);
  return Kokkos::exp(-1.6 * free_fall_time * 2.0 * speed / dx);
}

// Efficiency 1 if |div v|^2 + |curl v|^2 < 2 G rho, else 0: bound gas (Hopkins, Narayanan & Murray
// 2013, eq. 3).
KOKKOS_INLINE_FUNCTION double hopkins_efficiency(double divergence, double curl, double density,
                                                 double gravity) {
  const double squares = divergence * divergence + curl * curl;
  return squares < 2.0 * gravity * density ? 1.0 : 0.0;
}

// Efficiency 1 if the virial parameter from velocity dispersion and sound speed is below 1 and the
// Laplacian of the density is negative, else 0.
KOKKOS_INLINE_FUNCTION double virial_efficiency(double virial_parameter,
                                                double laplacian_of_density) {
  return virial_parameter < 1.0 && laplacian_of_density < 0.0 ? 1.0 : 0.0;
}

// Pressure law of Schaye & Dalla Vecchia (2008, eq. 20), the Kennicutt (1998) relation for
// self-gravitating gas, with the parameters of EAGLE (Schaye et al. 2015).
struct PressureLaw {
  double amplitude = 1.515e-4;  // Msun yr^-1 kpc^-2
  double power = 1.4;
  double gas_fraction = 1.0;
};
// Star formation rate per gas mass in s^-1, at a pressure in cgs units.
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

// Density threshold of star formation in hydrogen nuclei per cm^3: 0.1 (Z / 0.002)^-0.64, at most
// 10 (Schaye 2004, eq. 24).
KOKKOS_INLINE_FUNCTION double pressure_law_threshold(double metallicity) {
  const double threshold = 0.1 * Kokkos::pow(metallicity / 0.002, -0.64);
  return threshold < 10.0 ? threshold : 10.0;
}

}  // namespace octant::subgrid

namespace octant::subgrid::star_formation {

// Star formation laws.
enum class Model {
  schmidt,
  multi_freefall_km,
  multi_freefall_pn,
  padoan,
  hopkins,
  virial,
  pressure_law
};
// Names of the models in stars.model.
constexpr auto names_of(Model) {
  return std::array{"schmidt", "multi_freefall_km", "multi_freefall_pn", "padoan", "hopkins",
                    "virial",  "pressure_law"};
}
// True for models that require the velocity gradient and the Laplacian of the density.
constexpr bool depends_on_turbulence(Model model) {
  return model != Model::schmidt && model != Model::pressure_law;
}

// Gas of a cell and the turbulence in it, estimated from the neighbouring cells, in code units.
struct TurbulenceInCell {
  double density, sound_speed, dx, gravity;
  double dispersion;        // three-dimensional: dx times the norm of the velocity gradient
  double divergence, curl;  // divergence, and norm of the curl, of the velocity
  double density_laplacian;

  KOKKOS_INLINE_FUNCTION TurbulenceInCell(const hydro::GasGradients& around, double density,
                                          double sound_speed, double dx, double gravity)
      : density(density),
        sound_speed(sound_speed),
        dx(dx),
        gravity(gravity),
        divergence(0.0),
        density_laplacian(around.density_laplacian) {
    const auto& v = around.velocity;
    double squares = 0.0, curl_squared = 0.0;
    for (int i = 0; i < 3; ++i) {
      divergence += v[i][i];
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      curl_squared += (v[k][j] - v[j][k]) * (v[k][j] - v[j][k]);
      for (int along = 0; along < 3; ++along) squares += v[i][along] * v[i][along];
    }
    dispersion = dx * Kokkos::sqrt(squares);
    curl = Kokkos::sqrt(curl_squared);
  }

  // Turbulence for the efficiency models.
  KOKKOS_INLINE_FUNCTION TurbulentGas gas() const {
    return {virial_parameter(dispersion, density, dx, gravity), dispersion / sound_speed};
  }

  // Factor by which a model multiplies stars.efficiency.
  KOKKOS_INLINE_FUNCTION double efficiency(Model model) const {
    switch (model) {
      case Model::multi_freefall_km: return multi_freefall_krumholz_mckee(gas());
      case Model::multi_freefall_pn: return multi_freefall_padoan_nordlund(gas());
      case Model::padoan:
        return padoan_efficiency(free_fall_time(density, gravity), dx, dispersion, sound_speed);
      case Model::hopkins: return hopkins_efficiency(divergence, curl, density, gravity);
      case Model::virial: {
        const double speed = Kokkos::sqrt(dispersion * dispersion + sound_speed * sound_speed);
        return virial_efficiency(virial_parameter(speed, density, dx, gravity), density_laplacian);
      }
      default: return 1.0;
    }
  }
};

}  // namespace octant::subgrid::star_formation
