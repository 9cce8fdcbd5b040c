#include "subgrid/cooling/cooling_options.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/named.hpp"
#include "core/parameters.hpp"

namespace octant::subgrid::cooling {

void CoolingOptions::declare(ParameterSchema& schema) {
  schema.add("cooling.enabled", enabled,
             {.meaning = "Radiative cooling of the gas and heating by the ultraviolet background"});
  schema.add("cooling.method", method,
             {.meaning = "Cooling solver: closed-form solution between the temperatures of the "
                         "table (exact), implicit sub-steps (implicit), or the rates and sub-steps "
                         "of RAMSES without a table (original)"});
  schema.add("cooling.tolerance", tolerance,
             {.meaning = "Maximum change in ln(u) per sub-step of cooling.method = \"implicit\", "
                         "where u is the specific internal energy",
              .max = 1.0,
              .above = 0.0});
  schema.add("cooling.table", table,
             {.meaning = "Grackle file of cooling rates; empty for cooling.method = \"original\"",
              .is_data_file = true});
  schema.add("cooling.uv_background", uv_background,
             {.meaning = "Ultraviolet background that heats the gas; own: that of the table, or "
                         "the Courty background for cooling.method = \"original\""});
  schema.add(
      "cooling.reionization", reionization,
      {.meaning = "Redshift at which the Courty ultraviolet background is switched on", .min = 0});
  schema.add(
      "cooling.self_shielding", self_shielding,
      {.meaning =
           "Self-shielding of dense gas from the ultraviolet background: exp(-n_H / 0.01), or the "
           "fit of Rahmati et al. (2013); with a table, only the heating is reduced"});
  schema.add(
      "cooling.cmb_floor", cmb_floor,
      {.meaning = "Use of the CMB temperature as the temperature floor of radiative cooling"});
  schema.add("cooling.compton", compton,
             {.meaning = "Compton heating and cooling by the cosmic microwave background"});
  schema.add("cooling.residual_electrons", residual_electrons,
             {.meaning = "Minimum electron fraction n_e / n_H for Compton cooling with a table; "
                         "the residual ionization after recombination, about 2e-4, is missing from "
                         "ionization equilibrium; 0: as in Grackle",
              .min = 0,
              .max = 1.0});
  schema.add(
      "cooling.redshift", redshift,
      {.meaning = "Redshift of the ultraviolet and microwave backgrounds in runs without cosmology",
       .min = 0});
  schema.add("cooling.initial_metallicity", initial_metallicity,
             {.unit = "solar", .meaning = "Initial metallicity of the gas", .min = 0});
  schema.add("cooling.solar_metallicity", solar_metallicity,
             {.meaning = "Metal mass fraction that corresponds to solar metallicity; 0: 0.01295, "
                         "as in the tables, or 0.02 for cooling.method = \"original\"",
              .min = 0,
              .below = 1.0});
  schema.add(
      "cooling.maximum_temperature", maximum_temperature,
      {.unit = "K",
       .meaning = "Temperature ceiling of the gas, rounded up to the next tabulated temperature; "
                  "cooling rates above the tabulated range are extrapolated as bremsstrahlung",
       .above = 0.0});
  schema.add("cooling.table_refinement", table_refinement,
             {.meaning = "Refinement factor of the cooling table in density: number of resampled "
                         "rows per row of the table, with linear interpolation between them; 1: "
                         "logarithmic interpolation in every cell, which is slower",
              .min = 1,
              .max = 100});
  schema.add("cooling.temperature_refinement", temperature_refinement,
             {.meaning = "Maximum factor by which the temperature grid of the cooling table is "
                         "refined; where rates vary rapidly, points are added until linear and "
                         "logarithmic interpolation agree to within 0.4 %; 1: no refinement",
              .min = 1,
              .max = 100});
  schema.add(
      "cooling.largest_change", largest_change,
      {.meaning = "Maximum time step as a fraction of the shortest cooling time; 0: no limit",
       .min = 0});
  schema.add("cooling.delayed", delayed,
             {.meaning = "Delayed cooling after supernovae: gas with a concentration of the scalar "
                         "`delayed` above 1e-3 does not cool"});
  schema.add(
      "cooling.delay_time", delay_time,
      {.unit = "Myr", .meaning = "Decay time (e-folding) of the scalar `delayed`", .above = 0.0});
  schema.set_switch("floor", "cooling.enabled");
  schema.add("floor.kind", floor,
             {.meaning = "Pressure floor in runs with cooling: jeans (keeps the Jeans length "
                         "resolved; used only with gravity) or polytrope"});
  schema.add("floor.jeans_cells", jeans_cells,
             {.unit = "finest cells",
              .meaning = "Minimum Jeans length enforced by floor.kind = \"jeans\"",
              .above = 0.0});
  schema.add("floor.temperature", floor_temperature,
             {.unit = "K", .meaning = "T / mu of the polytropic floor at floor.density", .min = 0});
  schema.add(
      "floor.density", floor_density,
      {.unit = "cm^-3",
       .meaning = "Hydrogen number density at which the polytropic floor has floor.temperature",
       .above = 0.0});
  schema.add("floor.index", floor_index,
             {.meaning = "Index of the polytropic floor: pressure is proportional to density^index",
              .min = 1.0});
}

void CoolingOptions::check() const {
  const std::string method_name = name_of(method), background = name_of(uv_background);
  if (table.empty() && !is_original())
    throw InputError(
        "cooling.method = \"{}\" requires cooling.table, a Grackle file; the method without a "
        "table is \"original\"",
        method_name);
  const auto exclude = [](const std::string& one, const std::string& other, const char* because) {
    throw InputError("cooling.{} is incompatible with cooling.{}: {}", one, other, because);
  };
  const std::string of_method = fmt::format("method = \"{}\"", method_name);
  const std::string of_table = fmt::format("table = \"{}\"", table);
  const std::string of_background = fmt::format("uv_background = \"{}\"", background);
  const std::string of_shielding = fmt::format("self_shielding = \"{}\"", name_of(self_shielding));
  if (is_original()) {
    if (!table.empty()) exclude(of_method, of_table, "the method has its own rates");
    if (uv_background == UvBackground::table)
      exclude(of_method, of_background, "the method has no table");
    if (self_shielding == Shielding::rahmati)
      exclude(of_method, of_shielding, "use \"exponential\" with this method");
  } else if (uv_background == UvBackground::courty) {
    exclude(of_table, of_background, "the table already includes a UV background");
  }
  if (self_shielding == Shielding::none) return;
  if (uv_background == UvBackground::none)
    exclude(of_shielding, of_background, "there is no background to be shielded from");
  if (table.find("shielded") != std::string::npos)
    exclude(of_shielding, of_table, "the table already includes self-shielding");
}

double CoolingOptions::solar() const {
  if (solar_metallicity > 0.0) return solar_metallicity;
  return is_original() ? k_original_solar : k_grackle_solar;
}

TableOptions CoolingOptions::table_options(double gamma) const {
  return {.gamma = gamma,
          .cmb_floor = cmb_floor,
          .compton = compton,
          .background = uv_background != UvBackground::none,
          .shielding = self_shielding,
          .maximum_temperature = maximum_temperature,
          .refinement = table_refinement,
          .temperature_refinement = temperature_refinement,
          .residual_electrons = residual_electrons};
}

OriginalOptions CoolingOptions::original_options(double gamma) const {
  return {.gamma = gamma,
          .background = uv_background != UvBackground::none,
          .compton = compton,
          .shielding = self_shielding,
          .reionization = reionization,
          .maximum_temperature = maximum_temperature};
}

}  // namespace octant::subgrid::cooling
