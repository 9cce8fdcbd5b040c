#include "cosmology/comoving_units.hpp"

#include <algorithm>
#include <cmath>

namespace octant::cosmology {

namespace {
constexpr double k_megaparsec = 1e6 * constants::k_parsec;
// Redshift at which the gas parts from the radiation, and the radiation's temperature today in K.
constexpr double k_decoupling = 137.0, k_radiation_today = 2.726;
}  // namespace

double hubble_constant(double h) { return 100.0 * h * 1e5 / k_megaparsec; }

double critical_density(double h) {
  const double hubble = hubble_constant(h);
  return 3.0 * hubble * hubble / (8.0 * M_PI * constants::k_gravitational);
}

CodeUnits supercomoving_units(const Box& box, double a) {
  const double length = a * box.megaparsecs / box.h * k_megaparsec;
  const double density = box.omega_m * critical_density(box.h) / (a * a * a);
  return {.length = length,
          .mass = density * length * length * length,
          .time = a * a / hubble_constant(box.h)};
}

// Expansion cools it as 1 / a^2.
double unheated_temperature(double a) {
  const double radiation = k_radiation_today / a;
  return radiation * std::min(1.0, 1.0 / (a * (1.0 + k_decoupling)));
}

double poisson_coupling(double omega_m, double a) { return 1.5 * omega_m * a; }

}  // namespace octant::cosmology
