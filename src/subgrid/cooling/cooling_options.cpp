#include "subgrid/cooling/cooling_options.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/named.hpp"
#include "core/parameters.hpp"

namespace octant::subgrid::cooling {

void CoolingOptions::declare(ParameterSchema& schema) {
  schema.add("cooling.enabled", enabled, {.meaning = "Gas cools, and a background heats it"});
  schema.add("cooling.method", method,
             {.meaning = "How the equation of cooling is solved: in closed form between the "
                         "table's temperatures, or by implicit steps; original: by RAMSES's steps "
                         "with the rates that it has without a table"});
  schema.add("cooling.tolerance", tolerance,
             {.meaning = "Largest change of log u in a sub-step of the implicit method",
              .max = 1.0,
              .above = 0.0});
  schema.add("cooling.table", table,
             {.meaning = "File of Grackle with the rates; none for the original method"});
  schema.add(
      "cooling.uv_background", uv_background,
      {.meaning = "The ultraviolet background that heats the gas; own: that of the table, or "
                  "Courty's where the method is original"});
  schema.add("cooling.reionization", reionization,
             {.meaning = "Redshift at which Courty's background begins", .min = 0});
  schema.add("cooling.self_shielding", self_shielding,
             {.meaning = "How dense gas is kept from that background: exp(-n_H / 0.01), or the fit "
                         "of Rahmati et al. (2013); with a table it weakens the heating alone"});
  schema.add("cooling.cmb_floor", cmb_floor,
             {.meaning = "Radiation cools no gas below the microwave background's temperature"});
  schema.add("cooling.compton", compton,
             {.meaning = "Electrons exchange heat with the microwave background"});
  schema.add(
      "cooling.residual_electrons", residual_electrons,
      {.meaning = "Least number of electrons per hydrogen nucleus in Compton's exchange with "
                  "a table; recombination leaves about 2e-4, which ionization equilibrium "
                  "lacks; 0: as Grackle",
       .min = 0,
       .max = 1.0});
  schema.add("cooling.redshift", redshift,
             {.meaning = "Of the backgrounds, where nothing expands", .min = 0});
  schema.add("cooling.initial_metallicity", initial_metallicity,
             {.unit = "solar", .meaning = "Of all gas when the run begins", .min = 0});
  schema.add(
      "cooling.solar_metallicity", solar_metallicity,
      {.meaning =
           "Mass share of metals that is called solar; 0: 0.01295, as the tables, or 0.02 with the "
           "original method",
       .min = 0,
       .below = 1.0});
  schema.add("cooling.maximum_temperature", maximum_temperature,
             {.unit = "K",
              .meaning = "Hotter gas is brought down to the first temperature of the table, which "
                         "goes on as bremsstrahlung, that is not below this",
              .above = 0.0});
  schema.add("cooling.table_refinement", table_refinement,
             {.meaning = "Rows that rates are evaluated on per density of the table, and linear "
                         "between; 1: rates are interpolated in their logarithms in every cell, "
                         "which is slower",
              .min = 1,
              .max = 100});
  schema.add("cooling.temperature_refinement", temperature_refinement,
             {.meaning = "Largest number of intervals between two of the table's temperatures; "
                         "steep rates take more of them, so that rates that are linear in the "
                         "internal energy follow their interpolation in logarithms to 0.4 per "
                         "cent; 1: the table's temperatures alone",
              .min = 1,
              .max = 100});
  schema.add("cooling.largest_change", largest_change,
             {.meaning = "Steps are no longer than this share of the shortest cooling time; 0: any",
              .min = 0});
  schema.add("cooling.delayed", delayed,
             {.meaning = "Gas whose scalar `delayed` is above 1e-3 does not cool"});
  schema.add("cooling.delay_time", delay_time,
             {.unit = "Myr", .meaning = "In which that scalar falls by a factor e", .above = 0.0});
  schema.add("floor.kind", floor,
             {.meaning = "Pressure that is added to that of gas which cools: one that keeps the "
                         "Jeans length resolved, where there is gravity, or a polytrope"});
  schema.add("floor.jeans_cells", jeans_cells,
             {.unit = "finest cells", .meaning = "Least Jeans length", .above = 0.0});
  schema.add("floor.temperature", floor_temperature,
             {.unit = "K", .meaning = "T / mu of the polytrope at floor.density", .min = 0});
  schema.add("floor.density", floor_density,
             {.unit = "cm^-3", .meaning = "Hydrogen nuclei where it has that", .above = 0.0});
  schema.add("floor.index", floor_index,
             {.meaning = "Its index: the pressure goes as density to this power", .min = 1.0});
}

void CoolingOptions::check() const {
  const std::string method_name = name_of(method), background = name_of(uv_background);
  if (table.empty() && !is_original())
    throw InputError(
        "cooling.method = \"{}\": cooling.table must name a file of Grackle; the method without "
        "one is \"original\"",
        method_name);
  const auto exclude = [](const std::string& one, const std::string& other, const char* because) {
    throw InputError("cooling.{} and cooling.{} exclude each other: {}", one, other, because);
  };
  const std::string of_method = fmt::format("method = \"{}\"", method_name);
  const std::string of_table = fmt::format("table = \"{}\"", table);
  const std::string of_background = fmt::format("uv_background = \"{}\"", background);
  const std::string of_shielding = fmt::format("self_shielding = \"{}\"", name_of(self_shielding));
  if (is_original()) {
    if (!table.empty()) exclude(of_method, of_table, "that method has rates of its own");
    if (uv_background == UvBackground::table)
      exclude(of_method, of_background, "there is no table");
    if (self_shielding == Shielding::rahmati)
      exclude(of_method, of_shielding, "RAMSES has \"exponential\"");
  } else if (uv_background == UvBackground::courty) {
    exclude(of_table, of_background, "the table's gas is in a background of its own");
  }
  if (self_shielding == Shielding::none) return;
  if (uv_background == UvBackground::none)
    exclude(of_shielding, of_background, "there is nothing to be shielded from");
  if (table.find("shielded") != std::string::npos)
    exclude(of_shielding, of_table, "the table is shielded already");
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
