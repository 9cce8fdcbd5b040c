#include "subgrid/cooling/options.hpp"

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant::subgrid::cooling {

void CoolingOptions::declare(ParameterSchema& schema) {
  schema.add("cooling.enabled", enabled, {.meaning = "Gas cools, and a background heats it"});
  schema.add("cooling.method", method,
             {.meaning = "How the equation of cooling is solved: in closed form between the "
                         "table's temperatures, or by implicit steps; original: in closed form "
                         "with the rates that RAMSES has without a table",
              .choices = {"exact", "implicit", "original"}});
  schema.add("cooling.tolerance", tolerance,
             {.meaning = "Largest change of log u in a sub-step of the implicit method",
              .max = 1.0,
              .above = 0.0});
  schema.add("cooling.table", table,
             {.meaning = "File of Grackle with the rates; none for the original method"});
  schema.add(
      "cooling.uv_background", uv_background,
      {.meaning = "The ultraviolet background that heats the gas; own: that of the table, or "
                  "Courty's where the method is original",
       .choices = {"own", "table", "courty", "none"}});
  schema.add("cooling.reionization", reionization,
             {.meaning = "Redshift at which Courty's background begins", .min = 0});
  schema.add("cooling.self_shielding", self_shielding,
             {.meaning = "How dense gas is kept from that background: exp(-n_H / 0.01), or the fit "
                         "of Rahmati et al. (2013); with a table it weakens the heating alone",
              .choices = {"none", "exponential", "rahmati"}});
  schema.add("cooling.cmb_floor", cmb_floor,
             {.meaning = "Radiation cools no gas below the microwave background's temperature"});
  schema.add("cooling.compton", compton,
             {.meaning = "Electrons exchange heat with the microwave background"});
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
  schema.add("cooling.largest_change", largest_change,
             {.meaning = "Steps are no longer than this share of the shortest cooling time; 0: any",
              .min = 0});
  schema.add("cooling.delayed", delayed,
             {.meaning = "Gas whose scalar `delayed` is above 1e-3 does not cool"});
  schema.add("cooling.delay_time", delay_time,
             {.unit = "Myr", .meaning = "In which that scalar falls by a factor e", .above = 0.0});
  schema.add("floor.kind", floor,
             {.meaning = "Pressure that is added to that of gas which cools: one that keeps the "
                         "Jeans length resolved, where there is gravity, or a polytrope",
              .choices = {"none", "jeans", "polytrope"}});
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
  if (table.empty() && !is_original())
    throw InputError(
        "cooling.method = \"{}\": cooling.table must name a file of Grackle; the method without "
        "one is \"original\"",
        method);
  if (!table.empty() && is_original())
    throw InputError(
        "cooling.method = \"original\" and cooling.table = \"{}\" exclude each other: that method "
        "has rates of its own",
        table);
  if (uv_background == (is_original() ? "table" : "courty"))
    throw InputError(
        "cooling.uv_background = \"{}\" and cooling.method = \"{}\" exclude each other: {}",
        uv_background, method,
        is_original() ? "there is no table" : "the table holds gas in a background of its own");
  if (is_original() && self_shielding == "rahmati")
    throw InputError(
        "cooling.method = \"original\" and cooling.self_shielding = \"rahmati\" exclude each "
        "other; "
        "give \"exponential\"");
  if (self_shielding != "none" && uv_background == "none")
    throw InputError(
        "cooling.self_shielding = \"{}\" and cooling.uv_background = \"none\" exclude each other: "
        "there is nothing to be shielded from",
        self_shielding);
  if (self_shielding != "none" && table.find("shielded") != std::string::npos)
    throw InputError(
        "cooling.self_shielding = \"{}\" and cooling.table = \"{}\" exclude each other: the table "
        "is shielded already",
        self_shielding, table);
}

double CoolingOptions::solar() const {
  if (solar_metallicity > 0.0) return solar_metallicity;
  return is_original() ? k_original_solar : k_grackle_solar;
}

Shielding CoolingOptions::shielding() const {
  if (self_shielding == "exponential") return Shielding::exponential;
  return self_shielding == "rahmati" ? Shielding::rahmati : Shielding::none;
}

TableOptions CoolingOptions::table_options(double gamma) const {
  return {.gamma = gamma,
          .cmb_floor = cmb_floor,
          .compton = compton,
          .background = uv_background != "none",
          .shielding = shielding(),
          .maximum_temperature = maximum_temperature,
          .refinement = table_refinement};
}

OriginalOptions CoolingOptions::original_options(double gamma) const {
  return {.gamma = gamma,
          .background = uv_background != "none",
          .compton = compton,
          .shielding = shielding(),
          .reionization = reionization,
          .maximum_temperature = maximum_temperature};
}

}  // namespace octant::subgrid::cooling
