#include "subgrid/black_holes/black_hole_options.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/black_holes/spin.hpp"

namespace octant::subgrid {

namespace {

void declare_nucleus(ParameterSchema& schema, NucleusOptions& agn) {
  schema.add("agn.enabled", agn.enabled,
             {.meaning = "AGN feedback of black holes: jets and thermal feedback"});
  schema.add(
      "agn.radio_threshold", agn.radio_threshold,
      {.unit = "Eddington rates",
       .meaning =
           "Eddington-ratio threshold between jet mode (below) and quasar (thermal) mode (above)",
       .min = 0});
  schema.add("agn.thermal_efficiency", agn.thermal_efficiency,
             {.meaning = "Fraction of the radiated energy that heats the gas in quasar mode",
              .min = 0,
              .max = 1.0});
  schema.add(
      "agn.jet_efficiency", agn.jet_efficiency,
      {.meaning = "Ratio of jet energy to the energy radiated by a thin disc, with agn.mad = false",
       .min = 0});
  schema.add("agn.mad", agn.mad,
             {.meaning = "Magnetically arrested discs in jet mode: the spin sets the jet "
                         "efficiency, and jets spin the black hole down (McKinney et al. 2012)"});
  schema.add("agn.radius", agn.radius,
             {.unit = "cells of the hole's level",
              .meaning = "Radius of jets and thermal feedback, at least agn.least_radius",
              .min = 1.0});
  schema.add("agn.least_radius", agn.least_radius,
             {.unit = "kpc", .meaning = "Minimum radius of jets and thermal feedback", .min = 0});
  schema.add("agn.mass_loading", agn.mass_loading,
             {.meaning = "Mass loading of jets: jet mass over accreted mass; limited to a quarter "
                         "of the gas in the black hole's cell",
              .min = 0});
  schema.add(
      "agn.jet_trigger", agn.jet_trigger,
      {.meaning =
           "Accreted fraction of the black-hole mass at which a jet is launched; 0: at every step",
       .min = 0});
  schema.add("agn.heating_trigger", agn.heating_trigger,
             {.unit = "K",
              .meaning = "Rise of T / mu of the gas within agn.radius at which stored thermal "
                         "energy is released; 0: at every step",
              .min = 0});
  schema.add("agn.maximum_temperature", agn.maximum_temperature,
             {.unit = "K",
              .meaning = "Maximum T / mu of gas heated by thermal feedback; energy beyond it is "
                         "stored and released in later steps",
              .above = 0.0});
  schema.add(
      "agn.kinetic_fraction", agn.kinetic_fraction,
      {.meaning = "Kinetic fraction of the jet energy; the rest is thermal", .min = 0, .max = 1.0});
}

}  // namespace

void BlackHoleOptions::declare(ParameterSchema& schema) {
  schema.add("black_holes.enabled", enabled,
             {.meaning = "Black holes: seeding, accretion, drag, mergers and feedback; requires "
                         "gravity.enabled = true"});
  schema.add("black_holes.seed_mass", seed_mass,
             {.unit = "Msun", .meaning = "Seed mass of black holes; 0: no seeding", .min = 0});
  schema.add("black_holes.gas_density", gas_density,
             {.unit = "cm^-3",
              .meaning = "Minimum gas density for seeding, in hydrogen nuclei, on the finest level",
              .above = 0.0});
  schema.add("black_holes.star_density", star_density,
             {.unit = "cm^-3",
              .meaning = "Minimum stellar density for seeding, in equivalent hydrogen nuclei; 0: "
                         "no such condition",
              .min = 0});
  schema.add("black_holes.exclusion", exclusion,
             {.unit = "kpc",
              .meaning = "Minimum proper distance to an existing black hole for seeding",
              .min = 0});
  schema.add("black_holes.accretion", accretion, {.meaning = "Accretion of gas onto black holes"});
  schema.add("black_holes.boost", boost,
             {.meaning = "Exponent of the boost factor (n_H / black_holes.boost_density)^boost of "
                         "the Bondi rate above that density (Booth & Schaye 2009); 0: no boost",
              .min = 0});
  schema.add("black_holes.boost_density", boost_density,
             {.unit = "cm^-3",
              .meaning = "Density, in hydrogen nuclei, above which accretion and drag are boosted",
              .above = 0.0});
  schema.add(
      "black_holes.velocity_limit", velocity_limit,
      {.unit = "km/s",
       .meaning = "Maximum relative velocity of gas and black hole in the Bondi rate; 0: no limit",
       .min = 0});
  schema.add("black_holes.eddington", eddington, {.meaning = "Eddington limit on accretion"});
  schema.add("black_holes.drag", drag,
             {.meaning = "Dynamical friction of gas on black holes (Ostriker 1999)"});
  schema.add("black_holes.drag_boost", drag_boost,
             {.meaning = "Exponent of the boost factor (n_H / "
                         "black_holes.boost_density)^drag_boost of the gas drag above that density",
              .min = 0});
  schema.add("black_holes.merge_length", merge_length,
             {.unit = "finest cells",
              .meaning = "Friends-of-friends linking length of black-hole mergers; 0: no mergers",
              .min = 0});
  schema.add("black_holes.merge_bound", merge_bound,
             {.meaning = "Restriction of mergers to gravitationally bound pairs"});
  schema.add("black_holes.spin", spin,
             {.meaning = "Black-hole spins, evolved by accretion and mergers; false: radiative "
                         "efficiency of 0.1"});
  schema.add("black_holes.largest_spin", largest_spin,
             {.meaning = "Maximum dimensionless spin", .min = 0, .max = k_largest_spin});
  declare_nucleus(schema, agn);
}

void BlackHoleOptions::check(const mesh::Geometry& geometry) const {
  if (agn.enabled && agn.mad && !spin)
    throw InputError(
        "agn.mad = true is incompatible with black_holes.spin = false: the spin sets the energy of "
        "magnetically arrested discs");
  const auto check_reach = [&](const char* what, double cells) {
    for (int d = 0; d < 3; ++d) {
      const double half = 0.5 * (geometry.upper()[d] - geometry.lower()[d]);
      if (cells * geometry.cell_size(0) >= half)
        throw InputError(
            "{}: the radius in cells of level 0 must be below half of the domain; expected less "
            "than {}",
            what, half / geometry.cell_size(0));
    }
  };
  check_reach("[black_holes] accretes gas within 4 cells", k_reach);
  if (agn.enabled) check_reach("agn.radius, times the root of 2 for jets", 1.4142 * agn.radius);
}

}  // namespace octant::subgrid
