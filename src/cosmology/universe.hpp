// The universe of a run: the parameters `cosmology.*`, and what follows from them at each time.
#pragma once

#include <string>

#include "cosmology/comoving_units.hpp"
#include "cosmology/expansion.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::cosmology {

// Section [cosmology].
struct CosmologyOptions {
  bool enabled = false;
  double omega_m = 0.3111, omega_lambda = 0.6889, omega_b = 0.049, omega_radiation = 0.0;
  double w0 = -1.0, wa = 0.0;
  double h = 0.6766;
  double box = 0.0;   // side in comoving Mpc/h
  std::string start;  // as in scale_factor_of; empty: that of the files
  std::string end = "z = 0";
  double largest_growth = 0.1;  // of a in a step
};

void declare(ParameterSchema& schema, CosmologyOptions& options);

// The scale factor that a text says: "z = 29.5", a redshift, or "a = 0.5", a scale factor. Throws
// InputError, naming the parameter, for anything else or beyond what Expansion tabulates.
double scale_factor_of(const std::string& text, const std::string& parameter);

inline double redshift(double scale_factor) { return 1.0 / scale_factor - 1.0; }

// Times are supercomoving, in units of 1 / H0: zero today and negative before.
class Universe {
 public:
  // Throws InputError for parameters that describe no universe or no box.
  explicit Universe(const CosmologyOptions& options);

  const CosmologyOptions& options() const { return options_; }
  const Expansion& expansion() const { return expansion_; }
  double time(double scale_factor) const { return expansion_.supercomoving_time(scale_factor); }
  double scale_factor(double time) const { return expansion_.scale_factor(time); }
  double end_time() const { return time(scale_factor_of(options_.end, "cosmology.end")); }

  // Newton's constant in supercomoving units, 3 omega_m a / (8 pi): it grows.
  double newton_constant(double time) const;
  // The time in which a grows by the share of itself that a step may take, at the present rate.
  double longest_step(double time) const;
  // What the code's numbers are as physical quantities.
  CodeUnits units(double scale_factor) const;
  // In code units, of gas of density 1 that expansion alone has cooled: the same at all times.
  double unheated_pressure() const;

 private:
  CosmologyOptions options_;
  Expansion expansion_;
};

}  // namespace octant::cosmology
