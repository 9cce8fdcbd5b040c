// Universe of a run: the parameters `cosmology.*`, and derived quantities as functions of time.
#pragma once

#include <string>

#include "core/units.hpp"
#include "cosmology/expansion.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::cosmology {

// --- supercomoving units (Martel & Shapiro 1998) and their values in physical units --------------
//
// Length is in units of the box, density in units of the mean matter density, and time in 1 / H0
// with d tau = H0 dt / a^2. Gas of gamma = 5/3 then obeys the equations of a static box, and the
// potential Poisson's equation with poisson_coupling().

// Mean molecular weight of neutral gas with a helium mass fraction of 0.24, in proton masses.
inline constexpr double k_molecular_weight = 1.22;

// Comoving, periodic box.
struct Box {
  double omega_m = 1.0, omega_b = 0.0;
  double h = 0.7;          // H0 / (100 km/s/Mpc)
  double megaparsecs = 1;  // side of the box at z = 0, in Mpc / h
};

// H0 in 1/s.
double hubble_constant(double h);
// Critical density at z = 0 in g cm^-3: 3 H0^2 / (8 pi G).
double critical_density(double h);

// Code units of length, mass and time as physical (not comoving) quantities in cgs at scale factor
// a: a code velocity times units.velocity() is a peculiar velocity in cm/s, pressure over density
// times units.temperature() is temperature over mean molecular weight in K.
CodeUnits supercomoving_units(const Box& box, double a);

// Temperature in K of gas of mean density that has cooled by expansion alone since thermal
// decoupling from the microwave background at z = 137.
double adiabatic_temperature(double a);

// Coupling 3/2 omega_m a in Poisson's equation in these units: laplacian(phi) = coupling (rho - 1).
double poisson_coupling(double omega_m, double a);

// --- the universe of a run -----------------------------------------------------------------------

// Section [cosmology].
struct CosmologyOptions {
  bool enabled = false;
  double omega_m = 0.3111, omega_lambda = 0.6889, omega_b = 0.049, omega_radiation = 0.0;
  double w0 = -1.0, wa = 0.0;
  double h = 0.6766;
  double box = 0.0;   // side in comoving Mpc/h
  std::string start;  // format of scale_factor_of(); empty: from the files
  std::string end = "z = 0";
  double largest_growth = 0.1;  // maximum relative growth of a in a step
};

// Declares the section [cosmology]. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, CosmologyOptions& options);

// Parses a scale factor from "z = 29.5", a redshift, or "a = 0.5", a scale factor. Throws
// InputError with the name of the parameter for other text or values outside the range of
// Expansion.
double scale_factor_of(const std::string& text, const std::string& parameter);

// Redshift at a scale factor.
inline double redshift(double scale_factor) { return 1.0 / scale_factor - 1.0; }

// Universe of a run. Times are supercomoving, in units of 1 / H0: zero at z = 0 and negative
// before.
class Universe {
 public:
  // Throws InputError for parameters without a valid universe or box.
  explicit Universe(const CosmologyOptions& options);

  // Parameters.
  const CosmologyOptions& options() const { return options_; }
  // Tables of times and growth.
  const Expansion& expansion() const { return expansion_; }
  // Supercomoving time at a scale factor.
  double time(double scale_factor) const { return expansion_.supercomoving_time(scale_factor); }
  // Scale factor at a supercomoving time; 1 today.
  double scale_factor(double time) const { return expansion_.scale_factor(time); }
  // Supercomoving time of `cosmology.end`.
  double end_time() const { return time(scale_factor_of(options_.end, "cosmology.end")); }

  // Gravitational constant in supercomoving units, 3 omega_m a / (8 pi), which grows with a.
  double newton_constant(double time) const;
  // Time in which a grows by the maximum fraction per step, at the expansion rate of `time`.
  double max_dt(double time) const;
  // Code units as physical quantities.
  CodeUnits units(double scale_factor) const;
  // Pressure in code units of gas of density 1 that has cooled by expansion alone; constant in
  // time.
  double adiabatic_pressure() const;

 private:
  CosmologyOptions options_;
  Expansion expansion_;
};

}  // namespace octant::cosmology
