#include "hydro/parameters.hpp"

#include <algorithm>
#include <vector>

namespace octant::hydro {

namespace {

// Names of each choice, in the order of its enumerators.
const std::vector<std::string> k_schemes{"muscl_hancock", "rk2", "rk3"};
const std::vector<std::string> k_reconstructions{"plm", "ppm"};
const std::vector<std::string> k_limiters{"minmod", "mc", "van_leer", "huynh"};
const std::vector<std::string> k_riemann_solvers{"llf", "hll", "hllc", "exact"};
const std::vector<std::string> k_dual_energies{"off", "on", "overwrite"};

template <class Choice>
Choice choice(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<Choice>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

void HydroParameters::declare(ParameterSchema& schema) {
  schema.add("hydro.enabled", enabled,
             {.meaning = "There is gas; without it, only particles attract and move"});
  schema.add("hydro.gamma", gamma, {.meaning = "Ratio of specific heats", .above = 1.0});
  schema.add("hydro.scheme", scheme,
             {.meaning = "Time integration: Hancock's predictor, or Runge-Kutta of order 2 or 3",
              .choices = k_schemes});
  schema.add(
      "hydro.reconstruction", reconstruction,
      {.meaning = "Profiles inside cells: piecewise linear or parabolic (blocks of 4^3 and up)",
       .choices = k_reconstructions});
  schema.add("hydro.limiter", limiter,
             {.meaning = "Slope limiter of plm; huynh is mc that keeps smooth extrema (blocks of "
                         "4^3 and up)",
              .choices = k_limiters});
  schema.add("hydro.riemann", riemann, {.meaning = "Riemann solver", .choices = k_riemann_solvers});
  schema.add("hydro.density_floor", density_floor,
             {.unit = "code density", .meaning = "Smallest density", .above = 0.0});
  schema.add(
      "hydro.pressure_floor", pressure_floor,
      {.unit = "code pressure",
       .meaning = "Smallest pressure; 0: 1e-14, but in an expanding box 1e-10 of what gas of "
                  "the mean density has that was never heated",
       .min = 0});
  schema.add("hydro.scalars", scalars, {.meaning = "Number of passive scalars", .min = 0});
  schema.add("hydro.dual_energy", dual_energy,
             {.meaning = "Carry entropy beside total energy, for cold fast flows; overwrite also "
                         "resets total energy where it may be truncation error, which is not "
                         "conservative",
              .choices = k_dual_energies});
  schema.add(
      "hydro.dual_energy_threshold", dual_energy_threshold,
      {.meaning = "Share of internal in total energy below which pressures are the entropy's",
       .above = 0.0,
       .below = 1.0});
  schema.add("hydro.acceleration", acceleration,
             {.unit = "code acceleration", .meaning = "Uniform external acceleration"});
}

HydroOptions HydroParameters::options() const {
  HydroOptions options;
  options.enabled = enabled;
  options.scheme = choice<Scheme>(k_schemes, scheme);
  options.reconstruction = choice<Reconstruction>(k_reconstructions, reconstruction);
  options.limiter = choice<Limiter>(k_limiters, limiter);
  options.riemann = choice<RiemannSolver>(k_riemann_solvers, riemann);
  options.gamma = gamma;
  options.density_floor = density_floor;
  if (pressure_floor > 0.0) options.pressure_floor = pressure_floor;
  options.scalars = scalars;
  options.dual_energy = choice<DualEnergy>(k_dual_energies, dual_energy);
  options.dual_energy_threshold = dual_energy_threshold;
  options.acceleration = acceleration;
  return options;
}

}  // namespace octant::hydro
