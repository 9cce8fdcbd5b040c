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
             {.meaning = "Gas dynamics; false: particles and their gravity only"});
  schema.add("hydro.gamma", gamma, {.meaning = "Ratio of specific heats", .above = 1.0});
  schema.add("hydro.scheme", integrator,
             {.meaning = "Time integration: MUSCL-Hancock, or strong-stability-preserving "
                         "Runge-Kutta of order 2 or 3"});
  schema.add(
      "hydro.reconstruction", reconstruction,
      {.meaning =
           "Spatial reconstruction: piecewise linear (plm), piecewise parabolic (ppm; blocks of at "
           "least 4^3), or parabolic along 13 lines to 26 points with central-upwind fluxes "
           "(ppm26: at shocks only; ppm26_published: everywhere; both require rk2 or rk3)",
       .choices = reconstruction_names()});
  schema.add("hydro.limiter", limiter,
             {.meaning = "Slope limiter of plm; huynh is mc that preserves smooth extrema (blocks "
                         "of at least 4^3)",
              .choices = Limiters::names()});
  schema.add("hydro.contact_steepening", contact_steepening,
             {.meaning = "Contact steepening: keeps density jumps without a pressure jump within "
                         "two or three cells (ppm and ppm26 with rk2 or rk3)"});
  schema.add("hydro.riemann", riemann,
             {.meaning = "Riemann solver; hllc_hybrid is hllc with hll at faces along strong "
                         "shocks (against the carbuncle instability), hllc_low_mach is hllc_hybrid "
                         "with less dissipation at low Mach numbers",
              .choices = riemann_solver_names()});
  schema.add("hydro.density_floor", density_floor,
             {.unit = "code density",
              .meaning = "Density floor; 0: 1e-12 of the mean density of the initial conditions",
              .min = 0});
  schema.add("hydro.pressure_floor", pressure_floor,
             {.unit = "code pressure",
              .meaning = "Pressure floor; 0: 1e-14 of the mean thermal plus kinetic energy density "
                         "of the initial conditions, or, in a cosmological box, 1e-10 of the "
                         "pressure of never-heated gas at the mean density",
              .min = 0});
  schema.add("hydro.scalars", scalars, {.meaning = "Number of passive scalars", .min = 0});
  schema.add(
      "hydro.fraction_groups", fraction_groups,
      {.meaning = "Sizes of groups of consecutive passive scalars, from scalar_0 on; the scalars "
                  "of a group are mass fractions of one mixture and keep their sum; empty: all "
                  "passive scalars form one mixture in cells where their sum is 1",
       .min = 2});
  schema.add(
      "hydro.angular_momentum", angular_momentum,
      {.meaning =
           "Intra-cell angular momentum of the gas (variables spin_x, spin_y, spin_z): the total "
           "angular momentum is then conserved to rounding (ppm26 with rk2 or rk3 on one level)"});
  schema.add("hydro.dual_energy", dual_energy,
             {.meaning = "Dual-energy formalism for cold, supersonic flow: on evolves the entropy "
                         "beside the total energy; overwrite also resets the total energy where it "
                         "may be dominated by truncation error, which is not conservative"});
  schema.add("hydro.dual_energy_threshold", dual_energy_threshold,
             {.meaning = "Ratio of internal to total energy below which the pressure is computed "
                         "from the entropy",
              .above = 0.0,
              .below = 1.0});
  schema.add("hydro.dimensions", dimensions,
             {.meaning = "Number of dimensions in which the gas varies: 2: uniform along z; 1: "
                         "uniform along y and z. Fluxes of the uniform axes are computed once; "
                         "there the domain is periodic and one block wide",
              .min = 1,
              .max = 3});
  schema.add("hydro.acceleration", acceleration,
             {.unit = "code acceleration", .meaning = "Uniform external acceleration"});
  schema.add(
      "hydro.well_balanced", well_balanced,
      {.meaning =
           "Well-balanced reconstruction that keeps hydrostatic equilibrium under "
           "hydro.acceleration to rounding: isothermal reconstructs deviations from the local "
           "isothermal profile (plm and ppm; cells no larger than the pressure scale height)"});
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
          "hydro.angular_momentum = true: hydro.reconstruction = \"{}\" does not support "
          "intra-cell angular momentum; expected \"ppm26\"",
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
        "hydro.contact_steepening = true is not supported with hydro.reconstruction = \"{}\" and "
        "hydro.scheme = \"{}\"; expected ppm or ppm26 with rk3 or rk2",
        reconstruction, name_of(integrator));
  return options;
}

}  // namespace octant::hydro
