#include "radiation/radiation_options.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "radiation/lax_friedrichs.hpp"

namespace octant::radiation {

void RadiationOptions::declare(ParameterSchema& schema) {
  schema.add(
      "radiation.enabled", enabled,
      {.meaning = "Grey radiation with the M1 closure, transported on the mesh of the gas and "
                  "coupled to it by absorption, emission and scattering"});
  schema.add("radiation.light_speed", light_speed,
             {.unit = "length / time",
              .meaning = "Speed of light; 0: its physical value, which requires [units]",
              .min = 0.0});
  schema.add("radiation.speed_ratio", speed_ratio,
             {.meaning = "Reduced speed of light divided by the speed of light. The reduced speed "
                         "replaces c in the transport of radiation and in its loss and gain by the "
                         "gas, but not in the rates of heating and in the force on the gas",
              .max = 1.0,
              .above = 0.0});
  schema.add(
      "radiation.constant", constant,
      {.meaning = "Radiation constant a in code units, where a T^4 is the energy density in "
                  "equilibrium at temperature T; 0: its physical value, which requires [units]",
       .min = 0.0});
  schema.add("radiation.molecular_weight", molecular_weight,
             {.meaning = "Mean molecular weight of the gas, which relates temperature to pressure: "
                         "T is this number times pressure / density, in kelvin with [units]",
              .above = 0.0});
  schema.add("radiation.cubic_heat_capacity", cubic_heat_capacity,
             {.meaning = "If not 0, the gas has the internal energy density of this number times "
                         "a T^4 instead (Su & Olson 1996); for tests with gas at rest",
              .min = 0.0});
  schema.add("radiation.initial_temperature", initial_temperature,
             {.unit = "K",
              .meaning = "Temperature of the initial radiation, which is isotropic, unless "
                         "problem.fields sets it; in code units if [units] is not set",
              .min = 0.0});
  schema.add("radiation.cfl", cfl,
             {.meaning = "Courant number of a substep: dt = cfl dx / (sqrt(3) reduced speed of "
                         "light)",
              .max = 1.0,
              .above = 0.0});
  schema.add("radiation.max_substeps", max_substeps,
             {.meaning = "Maximum number of substeps of the radiation per step of a level, which "
                         "limits the time step; on refined meshes at most 4",
              .min = 1});
  declare_opacities(schema);
}

void RadiationOptions::declare_opacities(ParameterSchema& schema) {
  schema.add("radiation.planck_opacity", planck_opacity,
             {.unit = "length^2 / mass",
              .meaning = "Opacity per mass for emission and absorption of energy: the Planck mean",
              .min = 0.0});
  schema.add("radiation.rosseland_opacity", rosseland_opacity,
             {.unit = "length^2 / mass",
              .meaning = "Opacity per mass for the absorption of the flux: the Rosseland mean",
              .min = 0.0});
  schema.add("radiation.scattering_opacity", scattering_opacity,
             {.unit = "length^2 / mass",
              .meaning = "Opacity per mass of isotropic scattering, which changes only the flux",
              .min = 0.0});
  schema.add("radiation.opacity_table", opacity_table_path,
             {.meaning = "Text file with both absorption opacities instead of power laws: lines "
                         "with density, temperature, Planck mean and Rosseland mean, in g/cm^3, K "
                         "and cm^2/g, or in code units if [units] is not set. The logarithm of an "
                         "opacity is linear in those of density and temperature",
              .is_data_file = true});
  schema.add("radiation.opacity_density_exponent", opacity_density_exponent,
             {.meaning = "Exponent a of both absorption opacities, which are proportional to "
                         "density^a T^b; 1 for Kramers' law"});
  schema.add("radiation.opacity_temperature_exponent", opacity_temperature_exponent,
             {.meaning = "Exponent b of both absorption opacities; -3.5 for Kramers' law"});
  schema.add("radiation.opacity_density", opacity_density,
             {.unit = "density",
              .meaning = "Density at which the absorption opacities are as given",
              .above = 0.0});
  schema.add(
      "radiation.opacity_temperature", opacity_temperature,
      {.unit = "K",
       .meaning = "Temperature at which the absorption opacities are as given; in code units "
                  "if [units] is not set",
       .above = 0.0});
  schema.add("radiation.least_opacity", least_opacity,
             {.unit = "length^2 / mass",
              .meaning = "Smallest absorption opacity where the exponents are not 0",
              .min = 0.0});
  schema.add("radiation.largest_opacity", largest_opacity,
             {.unit = "length^2 / mass",
              .meaning = "Largest absorption opacity where the exponents are not 0",
              .above = 0.0});
}

// Reads the table of opacities, or sets the power law.
void RadiationOptions::set_opacity(const CodeUnits* units, const TextReader& read_text) {
  if (least_opacity > largest_opacity)
    throw InputError("radiation.least_opacity = {} exceeds radiation.largest_opacity = {}",
                     least_opacity, largest_opacity);
  if (!enabled || opacity_table_path.empty()) {
    opacity =
        Opacity::power_law(planck_opacity, rosseland_opacity, opacity_density, opacity_temperature,
                           opacity_density_exponent, opacity_temperature_exponent, least_opacity,
                           largest_opacity, scattering_opacity);
    return;
  }
  const RadiationOptions unset;
  const auto forbid = [](double value, double without, const char* name) {
    if (value != without)
      throw InputError("radiation.{} is incompatible with radiation.opacity_table", name);
  };
  forbid(planck_opacity, unset.planck_opacity, "planck_opacity");
  forbid(rosseland_opacity, unset.rosseland_opacity, "rosseland_opacity");
  forbid(opacity_density_exponent, unset.opacity_density_exponent, "opacity_density_exponent");
  forbid(opacity_temperature_exponent, unset.opacity_temperature_exponent,
         "opacity_temperature_exponent");
  forbid(least_opacity, unset.least_opacity, "least_opacity");
  forbid(largest_opacity, unset.largest_opacity, "largest_opacity");
  opacity_table = std::make_shared<const OpacityTable>(opacity_table_path, units, read_text);
  opacity = Opacity::tabulated(opacity_table->grid(), scattering_opacity);
}

void RadiationOptions::find_constants(const CodeUnits* units) {
  const auto physical = [&](double& value, const char* name, double of_units) {
    if (value > 0.0) return;
    if (!units)
      throw InputError(
          "radiation.{} is 0, but this run has no physical units; expected a positive number, or "
          "units.length, units.density and units.time",
          name);
    value = of_units;
  };
  physical(light_speed, "light_speed",
           units ? constants::k_speed_of_light / units->velocity() : 0.0);
  if (!enabled) return;
  physical(constant, "constant", units ? constants::k_radiation / units->energy_density() : 0.0);
}

namespace {

// Maximum number of substeps per step on refined meshes. Coarse cells beside finer ones get the
// fluxes of the finer level only at the end of the step. With 8 substeps, the corrections make a
// few energies negative, with 100 they exceed the energies.
constexpr int k_most_substeps_of_levels = 4;

}  // namespace

void RadiationOptions::check_gas(const hydro::HydroOptions& gas) const {
  const char* const parameter = enabled ? "radiation.enabled" : "ionization.enabled";
  if (!gas.enabled) throw InputError("{} = true requires hydro.enabled = true", parameter);
  const auto refuse = [&](const char* reason) {
    throw InputError("{} = true is not supported with hydro.equation_of_state = \"{}\"{}",
                     parameter, name_of(gas.eos.kind), reason);
  };
  using hydro::EquationOfState;
  if (photon_groups > 0 && !gas.is_ideal()) refuse("; expected \"ideal\"");
  if (gas.eos.kind == EquationOfState::gas_radiation)
    refuse(", which contains radiation already; expected \"ideal\"");
  if (gas.eos.kind == EquationOfState::table)
    refuse(", which does not relate energy to temperature during the run; expected another one");
  if (gas.eos.kind == EquationOfState::locally_isothermal &&
      (planck_opacity > 0.0 || !opacity_table_path.empty()))
    refuse(
        " where gas absorbs energy (radiation.planck_opacity, radiation.opacity_table): its "
        "temperature depends on the position; expected radiation.rosseland_opacity or "
        "scattering_opacity alone");
  if (cubic_heat_capacity > 0.0 && !gas.is_ideal())
    throw InputError(
        "radiation.cubic_heat_capacity requires hydro.equation_of_state = \"ideal\"; it is \"{}\"",
        name_of(gas.eos.kind));
  if (photon_groups > 0 && gas.dimensions != 3)
    throw InputError("{} = true requires hydro.dimensions = 3, but it is {}", parameter,
                     gas.dimensions);
  if (gas.frame.turns())
    throw InputError("{} = true is not supported with frame.angular_velocity", parameter);
}

void RadiationOptions::finish(const hydro::HydroOptions& gas, const CodeUnits* units,
                              bool is_refined, const TextReader& read_text) {
  if (!is_active()) return;
  check_gas(gas);
  find_constants(units);
  most_substeps_ = is_refined ? std::min(max_substeps, k_most_substeps_of_levels) : max_substeps;
  set_material(gas, units);
  set_opacity(units, read_text);
}

void RadiationOptions::set_material(const hydro::HydroOptions& gas, const CodeUnits* units) {
  kelvin_ = molecular_weight * (units ? units->temperature() : 1.0);
  material_ = {.heat_capacity = 1.0 / ((gas.gamma - 1.0) * kelvin_),
               .cubic = cubic_heat_capacity,
               .moves = gas.moves};
  if (cubic_heat_capacity > 0.0 && gas.moves)
    throw InputError("radiation.cubic_heat_capacity requires hydro.moves = false");
  // Locally isothermal gas has no barotrope; its temperature follows from the stored energy.
  if (gas.eos.kind != hydro::EquationOfState::locally_isothermal) barotrope_ = gas.eos.barotrope();
  material_.has_surroundings = barotrope_.pieces > 0;
}

namespace {

// Names and units of a set of moments: a density, and a flux with three components.
struct SetOfFields {
  std::string density, flux, density_unit, flux_unit, density_of, flux_of;
};

void add_moments(hydro::GasVariables& fields, const SetOfFields& set, double density) {
  fields.push_back({.name = set.density,
                    .initial = density,
                    .unit = set.density_unit,
                    .description = set.density_of,
                    .role = hydro::GasRole::separate});
  for (int axis = 0; axis < 3; ++axis) {
    const char letter = static_cast<char>('x' + axis);
    fields.push_back({.name = fmt::format("{}_{}", set.flux, letter),
                      .unit = set.flux_unit,
                      .description = fmt::format("{} along {}", set.flux_of, letter),
                      .role = hydro::GasRole::separate,
                      .vector_axis = axis});
  }
}

}  // namespace

hydro::GasVariables RadiationOptions::fields() const {
  hydro::GasVariables fields;
  const double T = initial_temperature;
  if (enabled)
    add_moments(fields,
                {"radiation_energy", "radiation_flux", "mass / (length time^2)", "mass / time^3",
                 "energy density of the radiation", "energy flux of the radiation"},
                constant * T * T * T * T);
  for (int n = 0; n < photon_groups; ++n)
    add_moments(
        fields,
        {fmt::format("photon_density_{}", n), fmt::format("photon_flux_{}", n), "1 / length^3",
         "1 / (length^2 time)", fmt::format("photons of group {} per volume", n),
         fmt::format("flux of photons of group {}", n)},
        0.0);
  for (int n = 0; n < photon_groups && has_emission; ++n)
    fields.push_back(
        {.name = fmt::format("photon_emission_{}", n),
         .unit = "1 / (length^3 time)",
         .description = fmt::format("photons of group {} from stars per volume and time", n),
         .role = hydro::GasRole::separate});
  return fields;
}

double RadiationOptions::longest_substep(double dx) const {
  const double grey = cfl / std::numbers::sqrt3;
  return (photon_groups > 0 ? std::min(grey, k_lax_friedrichs_limit) : grey) * dx / light().reduced;
}

}  // namespace octant::radiation
