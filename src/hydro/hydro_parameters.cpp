#include "hydro/hydro_parameters.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/schemes.hpp"

namespace octant::hydro {

void HydroParameters::declare(ParameterSchema& schema) {
  schema.add("hydro.enabled", enabled,
             {.meaning = "There is gas; without it, only particles attract and move"});
  schema.add("hydro.gamma", gamma, {.meaning = "Ratio of specific heats", .above = 1.0});
  schema.add("hydro.scheme", integrator,
             {.meaning = "Time integration: Hancock's predictor, or Runge-Kutta of order 2 or 3"});
  schema.add(
      "hydro.reconstruction", reconstruction,
      {.meaning = "Profiles inside cells: piecewise linear, parabolic (blocks of 4^3 and up), or "
                  "parabolic along 13 lines to 26 points with central-upwind fluxes (ppm26 at "
                  "shocks, ppm26_published everywhere; with rk3 or rk2)",
       .choices = reconstruction_names()});
  schema.add("hydro.limiter", limiter,
             {.meaning = "Slope limiter of plm; huynh is mc that keeps smooth extrema (blocks of "
                         "4^3 and up)",
              .choices = Limiters::names()});
  schema.add(
      "hydro.contact_steepening", contact_steepening,
      {.meaning = "Keep jumps of the density without one of the pressure within two or three "
                  "cells (ppm and ppm26 with rk3 or rk2)"});
  schema.add(
      "hydro.riemann", riemann,
      {.meaning =
           "Riemann solver: hllc_hybrid is hllc with hll in faces along strong shocks (against "
           "the carbuncle instability), hllc_low_mach the same with less dissipation of flows much "
           "slower than sound",
       .choices = riemann_solver_names()});
  schema.add("hydro.density_floor", density_floor,
             {.unit = "code density",
              .meaning = "Smallest density; 0: 1e-12 of the mean density of the initial state",
              .min = 0});
  schema.add(
      "hydro.pressure_floor", pressure_floor,
      {.unit = "code pressure",
       .meaning = "Smallest pressure; 0: 1e-14 of the mean energy density, thermal and kinetic, "
                  "of the initial state, but in an expanding box 1e-10 of what gas of the mean "
                  "density has that was never heated",
       .min = 0});
  schema.add("hydro.scalars", scalars, {.meaning = "Number of passive scalars", .min = 0});
  schema.add("hydro.fraction_groups", fraction_groups,
             {.meaning = "Numbers of consecutive passive scalars, from scalar_0 on, that are the "
                         "mass fractions of one mixture each and keep their sum; empty: all "
                         "passive scalars are one mixture in cells where their sum is 1",
              .min = 2});
  schema.add("hydro.angular_momentum", angular_momentum,
             {.meaning = "Carry the angular momentum of the gas within cells, spin_x, spin_y and "
                         "spin_z: with it the total is conserved, and it shapes the velocities in "
                         "them (ppm26 with rk3 or rk2 on one level)"});
  schema.add("hydro.dual_energy", dual_energy,
             {.meaning = "Carry entropy beside total energy, for cold fast flows; overwrite also "
                         "resets total energy where it may be truncation error, which is not "
                         "conservative"});
  schema.add(
      "hydro.dual_energy_threshold", dual_energy_threshold,
      {.meaning = "Share of internal in total energy below which pressures are the entropy's",
       .above = 0.0,
       .below = 1.0});
  schema.add("hydro.dimensions", dimensions,
             {.meaning = "Along how many axes the gas changes: 2: not along z, 1: along x alone. "
                         "Fluxes are found once along the others, whose boundaries are periodic "
                         "and where the domain is one block across",
              .min = 1,
              .max = 3});
  schema.add("hydro.acceleration", acceleration,
             {.unit = "code acceleration", .meaning = "Uniform external acceleration"});
  schema.add(
      "hydro.well_balanced", well_balanced,
      {.meaning = "Hydrostatic equilibrium under hydro.acceleration that is kept to rounding: "
                  "plm and ppm reconstruct what neighbours differ by from the profile of "
                  "one temperature through each cell (isothermal), where a cell is no larger "
                  "than the pressure scale height"});
}

namespace {

// Below every density and pressure, until the initial state is known from which floors follow.
constexpr double k_no_floor = 1e-300;

std::vector<int> group_sizes(const std::vector<double>& given, int scalars) {
  std::vector<int> sizes;
  double sum = 0.0;
  for (const double size : given) {
    sum += size;
    if (size != std::floor(size) || size < 2.0 || sum > scalars)
      throw InputError(
          "hydro.fraction_groups = [{}]: expected whole numbers of at least 2 with a sum of at "
          "most hydro.scalars = {}",
          fmt::join(given, ", "), scalars);
    sizes.push_back(static_cast<int>(size));
  }
  return sizes;
}

}  // namespace

void HydroParameters::check_balance() const {
  const std::string option = fmt::format("hydro.well_balanced = \"{}\"", name_of(well_balanced));
  if (acceleration == std::array{0.0, 0.0, 0.0})
    throw InputError("{} requires hydro.acceleration, which is [0, 0, 0]", option);
  const auto names = Reconstructions::names();
  if (std::find(names.begin(), names.end(), reconstruction) == names.end())
    throw InputError("{} is not supported with hydro.reconstruction = \"{}\"; expected {}", option,
                     reconstruction, fmt::join(names, " or "));
  if (dual_energy == DualEnergy::overwrite)
    throw InputError(
        "{} is not supported with hydro.dual_energy = \"overwrite\"; expected \"off\" or \"on\"",
        option);
}

HydroOptions HydroParameters::options() const {
  HydroOptions options;
  options.enabled = enabled;
  options.integrator = integrator;
  options.reconstruction = reconstruction;
  options.limiter = limiter;
  options.riemann = riemann;
  options.contact_steepening = contact_steepening;
  options.gamma = gamma;
  options.density_floor = std::max(density_floor, k_no_floor);
  options.pressure_floor = std::max(pressure_floor, k_no_floor);
  options.scalars = passive_scalars(scalars);
  options.fraction_groups = group_sizes(fraction_groups, scalars);
  if (angular_momentum) {
    if (!reconstruction.starts_with("ppm26"))
      throw InputError(
          "hydro.angular_momentum = true: hydro.reconstruction = \"{}\" knows of no rotation "
          "within cells; expected \"ppm26\"",
          reconstruction);
    const GasVariables spin = spin_variables();
    options.scalars.insert(options.scalars.end(), spin.begin(), spin.end());
  }
  options.dual_energy = dual_energy;
  options.dual_energy_threshold = dual_energy_threshold;
  options.dimensions = dimensions;
  options.acceleration = acceleration;
  options.well_balanced = well_balanced;
  if (options.is_balanced()) check_balance();
  if (integrator == Integrator::muscl_hancock && !scheme_kernels(options).predicts)
    throw InputError(
        "hydro.reconstruction = \"{}\" has no half step in time, which hydro.scheme = \"{}\" "
        "takes; choose rk3 or rk2",
        reconstruction, name_of(integrator));
  if (contact_steepening && (integrator == Integrator::muscl_hancock || reconstruction == "plm"))
    throw InputError(
        "hydro.contact_steepening = true steepens the parabolas of Runge-Kutta schemes, but "
        "hydro.reconstruction = \"{}\" and hydro.scheme = \"{}\"; choose ppm or ppm26 with rk3 or "
        "rk2",
        reconstruction, name_of(integrator));
  return options;
}

}  // namespace octant::hydro
