#include "cosmology/universe.hpp"

#include <cmath>
#include <regex>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::cosmology {

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
             {.unit = "critical density",
              .meaning = "Matter density parameter today, dark matter and baryons",
              .above = 0.0});
  schema.add("cosmology.omega_lambda", o.omega_lambda,
             {.unit = "critical density", .meaning = "Dark-energy density parameter today"});
  schema.add("cosmology.omega_b", o.omega_b,
             {.unit = "critical density",
              .meaning = "Baryon density parameter today, included in cosmology.omega_m",
              .min = 0});
  schema.add("cosmology.omega_radiation", o.omega_radiation,
             {.unit = "critical density",
              .meaning = "Radiation density parameter today; curvature makes up the difference of "
                         "all density parameters to one",
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
             {.meaning = "Maximum relative growth of the scale factor in a step",
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
      "{} = \"{}\": expected a redshift as \"z = 29.5\" or a scale factor as \"a = 0.5\", with "
      "scale factors of {:g} to {:g}",
      parameter, text, Expansion::k_a_min, Expansion::k_a_max);
}

Universe::Universe(const CosmologyOptions& options)
    : options_(options), expansion_(background_of(options)) {
  if (!(options.box > 0.0))
    throw InputError(
        "cosmology.enabled = true requires cosmology.box, the side of the box in Mpc/h");
  if (options.omega_b >= options.omega_m)
    throw InputError(
        "cosmology.omega_b = {} leaves no dark matter with cosmology.omega_m = {}; expected a "
        "smaller value",
        options.omega_b, options.omega_m);
}

double Universe::newton_constant(double time) const {
  return poisson_coupling(options_.omega_m, scale_factor(time)) / (4.0 * M_PI);
}

// da/dtau = a^3 H / H0.
double Universe::longest_step(double time) const {
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

// In supercomoving units pressures of an adiabatic gas do not change by expansion.
double Universe::unheated_pressure() const {
  return unheated_temperature(1.0) / k_molecular_weight / units(1.0).temperature();
}

}  // namespace octant::cosmology
