#include "subgrid/black_holes/black_hole_options.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/black_holes/spin.hpp"

namespace octant::subgrid {

namespace {

void declare_nucleus(ParameterSchema& schema, NucleusOptions& agn) {
  schema.add("agn.enabled", agn.enabled,
             {.meaning = "Black holes give energy back to the gas: jets or heat"});
  schema.add("agn.radio_threshold", agn.radio_threshold,
             {.unit = "Eddington rates",
              .meaning = "Holes that gas reaches more slowly have jets, others heat",
              .min = 0});
  schema.add("agn.thermal_efficiency", agn.thermal_efficiency,
             {.meaning = "Share of the radiated energy that heats gas", .min = 0, .max = 1.0});
  schema.add(
      "agn.jet_efficiency", agn.jet_efficiency,
      {.meaning = "Energy of jets over what a thin disc would radiate, without agn.mad", .min = 0});
  schema.add("agn.mad", agn.mad,
             {.meaning = "Discs of jets are magnetically arrested: they spin holes down, and the "
                         "spin says how much energy jets have (McKinney et al. 2012)"});
  schema.add(
      "agn.radius", agn.radius,
      {.unit = "cells of the hole's level", .meaning = "How far jets and heat reach", .min = 1.0});
  schema.add("agn.least_radius", agn.least_radius,
             {.unit = "kpc", .meaning = "They reach that far at least", .min = 0});
  schema.add("agn.mass_loading", agn.mass_loading,
             {.meaning = "Mass of a jet over that of the gas that the hole has swallowed; at most "
                         "a quarter of the gas in the hole's cell",
              .min = 0});
  schema.add(
      "agn.jet_trigger", agn.jet_trigger,
      {.meaning = "A jet waits until the hole has swallowed this share of its mass", .min = 0});
  schema.add("agn.heating_trigger", agn.heating_trigger,
             {.unit = "K",
              .meaning = "Heat waits until it raises T / mu of the gas within reach by this",
              .min = 0});
  schema.add("agn.maximum_temperature", agn.maximum_temperature,
             {.unit = "K",
              .meaning = "T / mu to which gas is heated at most; the rest of the energy is saved, "
                         "and released in the steps that follow",
              .above = 0.0});
  schema.add("agn.kinetic_fraction", agn.kinetic_fraction,
             {.meaning = "Share of a jet's energy that is kinetic", .min = 0, .max = 1.0});
}

}  // namespace

void BlackHoleOptions::declare(ParameterSchema& schema) {
  schema.add("black_holes.enabled", enabled,
             {.meaning = "Black holes form, swallow gas, merge and heat"});
  schema.add("black_holes.seed_mass", seed_mass,
             {.unit = "Msun", .meaning = "Mass that holes form with; 0: none form", .min = 0});
  schema.add("black_holes.gas_density", gas_density,
             {.unit = "cm^-3",
              .meaning = "Hydrogen nuclei above which holes form, in cells of the finest level",
              .above = 0.0});
  schema.add("black_holes.star_density", star_density,
             {.unit = "cm^-3",
              .meaning = "Density of stars above which holes form, in the same unit; 0: any",
              .min = 0});
  schema.add("black_holes.exclusion", exclusion,
             {.unit = "kpc", .meaning = "No hole forms as near to another one", .min = 0});
  schema.add("black_holes.accretion", accretion, {.meaning = "Holes swallow gas"});
  schema.add(
      "black_holes.boost", boost,
      {.meaning = "Where gas is denser than boost_density, Bondi's rate is multiplied by the "
                  "ratio of both to this power (Booth & Schaye 2009); 0: nowhere",
       .min = 0});
  schema.add("black_holes.boost_density", boost_density,
             {.unit = "cm^-3",
              .meaning = "Hydrogen nuclei, of the boosts of accretion and drag",
              .above = 0.0});
  schema.add("black_holes.velocity_limit", velocity_limit,
             {.unit = "km/s",
              .meaning = "Speed in the gas that Bondi's rate is reckoned with at most; 0: any",
              .min = 0});
  schema.add("black_holes.eddington", eddington,
             {.meaning = "Accretion is limited to Eddington's rate"});
  schema.add("black_holes.drag", drag,
             {.meaning = "Gas slows down holes by the wake that they draw (Ostriker 1999)"});
  schema.add(
      "black_holes.drag_boost", drag_boost,
      {.meaning = "Power of the density that multiplies drag, as black_holes.boost", .min = 0});
  schema.add("black_holes.merge_length", merge_length,
             {.unit = "finest cells",
              .meaning = "Holes that are as near merge, with friends of friends; 0: none do",
              .min = 0});
  schema.add("black_holes.merge_bound", merge_bound,
             {.meaning = "Only pairs merge that gravity would hold together on their own"});
  schema.add("black_holes.spin", spin,
             {.meaning = "Holes have spins, which follow from what they swallow and from mergers; "
                         "otherwise their discs radiate a tenth"});
  schema.add("black_holes.largest_spin", largest_spin,
             {.meaning = "Spins do not grow beyond this", .min = 0, .max = k_largest_spin});
  declare_nucleus(schema, agn);
}

void BlackHoleOptions::check(const mesh::Geometry& geometry) const {
  if (agn.enabled && agn.mad && !spin)
    throw InputError(
        "agn.mad = true and black_holes.spin = false exclude each other: magnetically arrested "
        "discs draw their energy from spins");
  const auto check_reach = [&](const char* what, double cells) {
    for (int d = 0; d < 3; ++d) {
      const double half = 0.5 * (geometry.upper()[d] - geometry.lower()[d]);
      if (cells * geometry.cell_size(0) >= half)
        throw InputError(
            "{}: in cells of level 0 that would reach half of the domain; expected less than {}",
            what, half / geometry.cell_size(0));
    }
  };
  check_reach("[black_holes] holes look at gas within 4 cells", k_reach);
  if (agn.enabled) check_reach("agn.radius, times the root of 2 for jets", 1.4142 * agn.radius);
}

}  // namespace octant::subgrid
