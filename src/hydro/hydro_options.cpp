#include "hydro/hydro_options.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/schemes.hpp"

namespace octant::hydro {

// --- parameters ----------------------------------------------------------------------------------

void HydroOptions::declare(ParameterSchema& schema) {
  schema.add("hydro.enabled", enabled,
             {.meaning = "Gas dynamics; false: particles and their gravity only"});
  schema.add("hydro.gamma", gamma, {.meaning = "Ratio of specific heats", .above = 1.0});
  eos.declare(schema);
  schema.add(
      "hydro.moves", moves,
      {.meaning =
           "Motion of the gas; false: it rests, and only radiation and processes change it"});
  schema.add("hydro.scheme", integrator,
             {.meaning = "Time integration: MUSCL-Hancock, or strong-stability-preserving "
                         "Runge-Kutta of order 2 or 3"});
  schema.add(
      "hydro.reconstruction", reconstruction,
      {.meaning =
           "Spatial reconstruction: piecewise linear (plm), piecewise parabolic (ppm), or "
           "parabolic along the 13 lines through a cell and its 26 neighbours, with central-upwind "
           "fluxes at 26 surface points near shocks and at face centres elsewhere (ppm26), or at "
           "26 surface points everywhere with monotone parabolas (ppm26_published). All but plm "
           "require blocks of at least 4^3 cells; ppm26 and ppm26_published require rk2 or rk3",
       .choices = reconstruction_names()});
  schema.add("hydro.limiter", limiter,
             {.meaning = "Slope limiter of plm; huynh: variant of mc that preserves smooth extrema "
                         "(requires blocks of at least 4^3 cells)",
              .choices = Limiters::names()});
  schema.add("hydro.contact_steepening", contact_steepening,
             {.meaning = "Contact steepening, which keeps contact discontinuities two or three "
                         "cells wide; requires ppm or ppm26 with rk2 or rk3"});
  schema.add("hydro.riemann", riemann,
             {.meaning = "Riemann solver; hllc_hybrid: hllc, with hll at faces along strong shocks "
                         "to suppress the carbuncle instability; hllc_low_mach: hllc_hybrid with "
                         "less dissipation at low Mach numbers",
              .choices = riemann_solver_names()});
  schema.add("hydro.density_floor", given_density_floor,
             {.unit = "code density",
              .meaning = "Density floor; 0: 1e-12 times the mean density of the initial conditions",
              .min = 0});
  schema.add("hydro.pressure_floor", given_pressure_floor,
             {.unit = "code pressure",
              .meaning = "Pressure floor; 0: 1e-14 times the mean thermal plus kinetic energy "
                         "density of the initial conditions, or, in a cosmological box, 1e-10 "
                         "times the pressure of unheated gas at the mean density",
              .min = 0});
  schema.add("hydro.scalars", passive_scalar_count,
             {.meaning = "Number of passive scalars", .min = 0});
  schema.add("hydro.fraction_groups", fraction_groups,
             {.meaning = "Sizes of groups of consecutive passive scalars, starting with scalar_0; "
                         "the scalars of a group are mass fractions of one mixture, whose sum is "
                         "preserved; empty: in cells where all passive scalars sum to 1 they are "
                         "treated as one mixture, elsewhere independently",
              .min = 2});
  schema.add(
      "hydro.angular_momentum", angular_momentum,
      {.meaning = "Intra-cell angular momentum of the gas (variables spin_x, spin_y, "
                  "spin_z), which conserves total angular momentum to round-off on any mesh; "
                  "requires ppm26 with rk2 or rk3"});
  schema.add(
      "hydro.dual_energy", dual_energy,
      {.meaning = "Dual-energy formalism for cold, supersonic flow. on: evolves the entropy in "
                  "addition to the total energy; overwrite: also resets the total energy where "
                  "truncation error may dominate the internal energy, which is not conservative"});
  schema.add("hydro.dual_energy_threshold", dual_energy_threshold,
             {.meaning = "Ratio of internal to total energy below which the pressure is computed "
                         "from the entropy",
              .above = 0.0,
              .below = 1.0});
  schema.add("hydro.dimensions", dimensions,
             {.meaning = "Number of dimensions of the gas flow; 2: uniform along z; 1: uniform "
                         "along y and z. Along uniform axes, fluxes are computed once, and the "
                         "domain must be periodic and one block wide",
              .min = 1,
              .max = 3});
  schema.add("hydro.acceleration", acceleration,
             {.unit = "code acceleration", .meaning = "Uniform external acceleration"});
  schema.add(
      "hydro.well_balanced", well_balanced,
      {.meaning =
           "Well-balanced reconstruction that preserves hydrostatic equilibrium under "
           "hydro.acceleration to round-off. isothermal: reconstructs deviations from the local "
           "isothermal profile (requires plm or ppm, and cells no larger than the pressure scale "
           "height)"});
}

namespace {

// Placeholder below every density and pressure, used until floors follow from the initial state.
constexpr double k_no_floor = 1e-300;

// Throws InputError if group sizes do not match the number of passive scalars.
void check_groups(const std::vector<double>& sizes, int scalars) {
  double sum = 0.0;
  for (const double size : sizes) {
    sum += size;
    if (size != std::floor(size) || size < 2.0 || sum > scalars)
      throw InputError(
          "hydro.fraction_groups = [{}]: expected integers of at least 2 whose sum is at most "
          "hydro.scalars = {}",
          fmt::join(sizes, ", "), scalars);
  }
}

}  // namespace

void HydroOptions::finish() {
  density_floor = std::max(given_density_floor, k_no_floor);
  pressure_floor = std::max(given_pressure_floor, k_no_floor);
  add_scalars();
  if (is_balanced()) check_balance();
  eos.check(*this);
  if (integrator == Integrator::muscl_hancock && !listed_scheme(*this).predicts)
    throw InputError(
        "hydro.reconstruction = \"{}\" is not supported with hydro.scheme = \"{}\", which requires "
        "time-centred states; set hydro.scheme to \"rk2\" or \"rk3\"",
        reconstruction, name_of(integrator));
  if (contact_steepening && (integrator == Integrator::muscl_hancock || reconstruction == "plm"))
    throw InputError(
        "hydro.contact_steepening = true is not supported with hydro.reconstruction = \"{}\" and "
        "hydro.scheme = \"{}\"; set hydro.reconstruction to \"ppm\" or \"ppm26\" and hydro.scheme "
        "to \"rk2\" or \"rk3\"",
        reconstruction, name_of(integrator));
}

void HydroOptions::add_scalars() {
  scalars = passive_scalars(passive_scalar_count);
  check_groups(fraction_groups, passive_scalar_count);
  if (!angular_momentum) return;
  if (!reconstruction.starts_with("ppm26"))
    throw InputError(
        "hydro.angular_momentum = true: hydro.reconstruction = \"{}\" does not support "
        "intra-cell angular momentum; expected \"ppm26\"",
        reconstruction);
  const GasVariables spin = spin_variables();
  scalars.insert(scalars.end(), spin.begin(), spin.end());
}

void HydroOptions::check_balance() const {
  const std::string option = fmt::format("hydro.well_balanced = \"{}\"", name_of(well_balanced));
  if (acceleration == std::array{0.0, 0.0, 0.0})
    throw InputError("{} requires a non-zero hydro.acceleration", option);
  const auto names = Reconstructions::names();
  if (std::find(names.begin(), names.end(), reconstruction) == names.end())
    throw InputError("{} is not supported with hydro.reconstruction = \"{}\"; expected {}", option,
                     reconstruction, fmt::join(names, " or "));
  if (dual_energy == DualEnergy::overwrite)
    throw InputError(
        "{} is not supported with hydro.dual_energy = \"overwrite\"; expected \"off\" or \"on\"",
        option);
}

// --- variables -----------------------------------------------------------------------------------

namespace {

// Variables in the order of Conserved, which is that of Primitive.
const GasVariables k_euler_variables{
    {.name = "density",
     .unit = "mass / length^3",
     .description = "mass density of the gas",
     .role = GasRole::conserved,
     .stored = {"density", "mass / length^3", "mass density of the gas"}},
    {.name = "velocity_x",
     .unit = "length / time",
     .description = "gas velocity along x",
     .role = GasRole::conserved,
     .vector_axis = 0,
     .stored = {"momentum_x", "mass / (length^2 time)", "momentum density"}},
    {.name = "velocity_y",
     .unit = "length / time",
     .description = "gas velocity along y",
     .role = GasRole::conserved,
     .vector_axis = 1,
     .stored = {"momentum_y", "mass / (length^2 time)", "momentum density"}},
    {.name = "velocity_z",
     .unit = "length / time",
     .description = "gas velocity along z",
     .role = GasRole::conserved,
     .vector_axis = 2,
     .stored = {"momentum_z", "mass / (length^2 time)", "momentum density"}},
    {.name = "pressure",
     .unit = "mass / (length time^2)",
     .description = "thermal pressure of the gas",
     .role = GasRole::conserved,
     .stored = {"total_energy", "mass / (length time^2)", "total energy density of the gas"}}};

const GasVariable k_entropy_variable{.name = "entropy",
                                     .unit = "code",
                                     .description = "p / rho^gamma of the dual-energy formalism",
                                     .role = GasRole::tracer};

}  // namespace

mesh::FieldInfo GasVariable::stored_field() const {
  mesh::FieldInfo field = role == GasRole::separate ? shown_field() : stored;
  if (field.name.empty()) {
    const std::string density = "mass / length^3";
    field = {name, unit == "1" ? density : unit + " " + density,
             description + ", times the density"};
  }
  field.vector_axis = vector_axis;
  return field;
}

std::string passive_scalar_name(int number) { return fmt::format("scalar_{}", number); }

GasVariables passive_scalars(int count) {
  GasVariables scalars;
  for (int n = 0; n < count; ++n)
    scalars.push_back({.name = passive_scalar_name(n), .role = GasRole::passive});
  return scalars;
}

GasVariables spin_variables() {
  GasVariables spin;
  for (const char axis : {'x', 'y', 'z'}) {
    const std::string name = fmt::format("spin_{}", axis);
    const std::string description = fmt::format(
        "{} component of the angular momentum of the gas in a cell about the cell centre", axis);
    spin.push_back({.name = name,
                    .unit = "length^2 / time",
                    .description = description,
                    .role = GasRole::tracer,
                    .stored = {name, "mass / (length time)", description + ", times the density"}});
  }
  return spin;
}

std::vector<std::string> shown_names(const GasVariables& variables) {
  std::vector<std::string> names;
  for (const GasVariable& variable : variables) names.push_back(variable.name);
  return names;
}

GasVariables HydroOptions::variables() const {
  GasVariables all = k_euler_variables;
  if (has_dual_energy()) all.push_back(k_entropy_variable);
  all.insert(all.end(), scalars.begin(), scalars.end());
  all.insert(all.end(), separate.begin(), separate.end());
  return all;
}

std::optional<int> HydroOptions::variable_index(const std::string& name) const {
  const auto names = shown_names(variables());
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

// Entropy and spin are not fractions: entropy is reset from the energy, spin has sources at faces.
FractionGroups HydroOptions::fractions() const {
  FractionGroups groups;
  const GasVariables all = variables();
  const int count = static_cast<int>(all.size());
  int first_passive = count, passive = 0;
  for (int n = 0; n < count; ++n) {
    if (all[n].role != GasRole::passive && all[n].role != GasRole::species) continue;
    groups.end[n] = static_cast<std::int16_t>(n + 1);
    if (all[n].role != GasRole::passive) continue;
    first_passive = std::min(first_passive, n);
    ++passive;
  }
  if (fraction_groups.empty()) {
    if (passive > 1) groups.end[first_passive] = static_cast<std::int16_t>(first_passive + passive);
    return groups;
  }
  groups.tolerance = std::numeric_limits<double>::infinity();
  int first = first_passive;
  for (const double size : fraction_groups) {
    const int end = first + static_cast<int>(size);
    groups.end[first] = static_cast<std::int16_t>(end);
    first = end;
  }
  return groups;
}

}  // namespace octant::hydro
