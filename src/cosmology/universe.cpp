#include "cosmology/universe.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::cosmology {

namespace {
constexpr double k_megaparsec = 1e6 * constants::k_parsec;
// Redshift at which gas and radiation decouple thermally, and the radiation temperature at z = 0 in
// K.
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

// The gas cools as 1 / a^2 by expansion.
double adiabatic_temperature(double a) {
  const double radiation = k_radiation_today / a;
  return radiation * std::min(1.0, 1.0 / (a * (1.0 + k_decoupling)));
}

double poisson_coupling(double omega_m, double a) { return 1.5 * omega_m * a; }

namespace {

Background background_of(const CosmologyOptions& o) {
  return {.omega_m = o.omega_m,
          .omega_lambda = o.omega_lambda,
          .omega_radiation = o.omega_radiation,
          .w0 = o.w0,
          .wa = o.wa};
}

}  // namespace

void declare(ParameterSchema& schema, CosmologyOptions& o) {
  schema.add("cosmology.enabled", o.enabled,
             {.meaning = "Comoving integration in an expanding universe; the domain is a periodic "
                         "comoving box and code units are supercomoving"});
  schema.add("cosmology.omega_m", o.omega_m,
             {.meaning = "Matter density parameter today (dark matter and baryons)", .above = 0.0});
  schema.add("cosmology.omega_lambda", o.omega_lambda,
             {.meaning = "Dark-energy density parameter today"});
  schema.add(
      "cosmology.omega_b", o.omega_b,
      {.meaning = "Baryon density parameter today, included in cosmology.omega_m", .min = 0});
  schema.add("cosmology.omega_radiation", o.omega_radiation,
             {.meaning = "Radiation density parameter today; the curvature parameter is 1 minus "
                         "the sum of all density parameters",
              .min = 0});
  schema.add("cosmology.w0", o.w0,
             {.meaning = "Equation-of-state parameter w0 of dark energy today"});
  schema.add(
      "cosmology.wa", o.wa,
      {.meaning =
           "Evolution parameter of the dark-energy equation of state: w(a) = w0 + wa (1 - a)"});
  schema.add("cosmology.h", o.h,
             {.unit = "100 km/s/Mpc", .meaning = "Hubble constant today", .above = 0.0});
  schema.add("cosmology.box", o.box,
             {.unit = "Mpc/h", .meaning = "Comoving side length of the box", .min = 0});
  schema.add("cosmology.start", o.start,
             {.meaning = "Start of the run: a redshift such as \"z = 29.5\" or a scale factor such "
                         "as \"a = 0.03\"; empty: taken from the files of initial conditions"});
  schema.add(
      "cosmology.end", o.end,
      {.meaning =
           "End of the run: a redshift such as \"z = 0\" or a scale factor such as \"a = 1\""});
  schema.add("cosmology.largest_growth", o.largest_growth,
             {.meaning = "Maximum relative change in the scale factor per step",
              .max = 0.5,
              .above = 0.0});
}

double scale_factor_of(const std::string& text, const std::string& parameter) {
  static const std::regex pattern(R"(\s*([az])\s*=\s*([-+0-9.eE]+)\s*)");
  std::smatch parts;
  double a = 0.0;
  if (std::regex_match(text, parts, pattern)) {
    char* end = nullptr;
    const std::string digits = parts[2];
    const double value = std::strtod(digits.c_str(), &end);
    if (*end == '\0') a = parts[1] == "a" ? value : 1.0 / (1.0 + value);
  }
  if (a >= Expansion::k_a_min && a <= Expansion::k_a_max) return a;
  throw InputError(
      "{} = \"{}\": expected a redshift such as \"z = 29.5\" or a scale factor such as \"a = "
      "0.5\", with scale factors between {:g} and {:g}",
      parameter, text, Expansion::k_a_min, Expansion::k_a_max);
}

Universe::Universe(const CosmologyOptions& options)
    : options_(options), expansion_(background_of(options)) {
  if (!(options.box > 0.0))
    throw InputError(
        "cosmology.enabled = true requires cosmology.box, the side of the box in Mpc/h");
  if (options.omega_b >= options.omega_m)
    throw InputError(
        "cosmology.omega_b = {} leaves no dark matter with cosmology.omega_m = {}; decrease "
        "cosmology.omega_b",
        options.omega_b, options.omega_m);
}

double Universe::newton_constant(double time) const {
  return poisson_coupling(options_.omega_m, scale_factor(time)) / (4.0 * M_PI);
}

// Expansion rate da/dtau = a^3 H / H0.
double Universe::max_dt(double time) const {
  const double a = scale_factor(time);
  return options_.largest_growth / (a * a * expansion_.background().hubble(a));
}

CodeUnits Universe::units(double scale_factor) const {
  return supercomoving_units({.omega_m = options_.omega_m,
                              .omega_b = options_.omega_b,
                              .h = options_.h,
                              .megaparsecs = options_.box},
                             scale_factor);
}

// The pressure of an adiabatic gas is constant in supercomoving units.
double Universe::adiabatic_pressure() const {
  return adiabatic_temperature(1.0) / k_molecular_weight / units(1.0).temperature();
}

}  // namespace octant::cosmology
