// Black holes. They accrete gas at the end of every step of their levels. At the end of coarse
// steps, when all levels and particles are synchronised, they form, merge and release energy, in
// this order.
#include "subgrid/black_holes/black_holes.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "subgrid/black_holes/spin.hpp"
#include "subgrid/friends/distributed.hpp"
#include "subgrid/process.hpp"

namespace octant::subgrid {

namespace {

void declare_nucleus(ParameterSchema& schema, NucleusOptions& agn) {
  schema.add("agn.enabled", agn.enabled,
             {.meaning = "AGN feedback from black holes: jets and thermal feedback"});
  schema.add(
      "agn.radio_threshold", agn.radio_threshold,
      {.unit = "Eddington rate",
       .meaning =
           "Eddington-ratio threshold between jet mode (below) and quasar (thermal) mode (above)",
       .min = 0});
  schema.add("agn.thermal_efficiency", agn.thermal_efficiency,
             {.meaning = "Fraction of the radiated energy that heats the gas in quasar mode",
              .min = 0,
              .max = 1.0});
  schema.add(
      "agn.jet_efficiency", agn.jet_efficiency,
      {.meaning =
           "Jet power in units of the luminosity of a thin disc at the same accretion rate; used "
           "only if agn.mad = false",
       .min = 0});
  schema.add("agn.mad", agn.mad,
             {.meaning = "Magnetically arrested discs in jet mode: the spin sets the jet "
                         "efficiency, and jets spin down the black hole (McKinney et al. 2012)"});
  schema.add("agn.radius", agn.radius,
             {.unit = "cells of the black hole's level",
              .meaning = "Radius of the region into which jets and thermal feedback are injected, "
                         "at least agn.least_radius",
              .min = 1.0});
  schema.add("agn.least_radius", agn.least_radius,
             {.unit = "kpc",
              .meaning = "Minimum radius of the region of jets and thermal feedback",
              .min = 0});
  schema.add("agn.mass_loading", agn.mass_loading,
             {.meaning = "Mass loading factor of jets: ejected mass over accreted mass; the "
                         "ejected mass is capped at 25 % of the gas in the host cell",
              .min = 0});
  schema.add("agn.jet_trigger", agn.jet_trigger,
             {.meaning = "Accreted mass, as a fraction of the black-hole mass, at which a jet is "
                         "launched; 0: at every step",
              .min = 0});
  schema.add("agn.heating_trigger", agn.heating_trigger,
             {.unit = "K",
              .meaning = "Increase in T / mu of the gas within agn.radius that the stored thermal "
                         "energy must be able to cause before it is released; 0: release at every "
                         "step",
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
              .meaning = "Minimum hydrogen number density for seeding; only cells on the finest "
                         "level are considered",
              .above = 0.0});
  schema.add("black_holes.star_density", star_density,
             {.unit = "cm^-3",
              .meaning = "Minimum stellar density for seeding, as an equivalent hydrogen number "
                         "density; 0: no such condition",
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
              .meaning = "Hydrogen number density above which accretion and drag are boosted",
              .above = 0.0});
  schema.add(
      "black_holes.velocity_limit", velocity_limit,
      {.unit = "km/s",
       .meaning =
           "Maximum relative velocity between gas and black hole in the Bondi rate; 0: no limit",
       .min = 0});
  schema.add("black_holes.eddington", eddington, {.meaning = "Eddington limit on accretion"});
  schema.add("black_holes.drag", drag,
             {.meaning = "Gas dynamical friction on black holes (Ostriker 1999)"});
  schema.add("black_holes.drag_boost", drag_boost,
             {.meaning = "Exponent of the boost factor (n_H / "
                         "black_holes.boost_density)^drag_boost of the gas drag above that density",
              .min = 0});
  schema.add("black_holes.merge_length", merge_length,
             {.unit = "finest cells",
              .meaning = "Friends-of-friends linking length for black-hole mergers; 0: no mergers",
              .min = 0});
  schema.add("black_holes.merge_bound", merge_bound,
             {.meaning = "Restriction of mergers to gravitationally bound pairs"});
  schema.add("black_holes.spin", spin,
             {.meaning = "Evolution of black-hole spins by accretion and mergers; false: constant "
                         "radiative efficiency of 0.1"});
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
            "{}: the radius must be smaller than half of the domain; expected less than {} cells",
            what, half / geometry.cell_size(0));
    }
  };
  check_reach("[black_holes] accretes gas within 4 cells", k_reach);
  if (agn.enabled) check_reach("agn.radius, times the root of 2 for jets", 1.4142 * agn.radius);
}

class BlackHoles final : public Process {
 public:
  const char* name() const override { return "black_holes"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.enabled || options_.agn.enabled; }

  std::vector<particles::Kind> particle_kinds() const override { return {sinks()}; }
  std::vector<std::string> accounts() const override {
    return {"accreted",        "radiated",    "seeds",          "metals",
            "jet_loaded",      "momentum_x",  "momentum_y",     "momentum_z",
            "accreted_energy", "drag_energy", "merger_kinetic", "nominal",
            "injected",        "saved",       "floor_energy",   "coarse_discs"};
  }
  bool limits_accretion() const override { return options_.eddington; }
  double added_energy(const Ledger& ledger) const override {
    return ledger.total("injected") + ledger.total("floor_energy") -
           ledger.total("accreted_energy") - ledger.total("merger_kinetic");
  }

  void prepare(const ProcessSetup& setup) override {
    if (!options_.enabled)
      throw InputError("agn.enabled = true requires black_holes.enabled = true");
    if (!setup.has_gas) throw InputError("[black_holes] requires hydro.enabled = true");
    if (!setup.has_gravity)
      throw InputError("black_holes.enabled = true requires gravity.enabled = true");
    if (!setup.has_units)
      throw InputError(
          "[black_holes] requires physical units: set units.length, units.density and units.time "
          "in cgs, or set cosmology.enabled = true");
    options_.check(setup.geometry);
    if (options_.star_density > 0.0 && !setup.has_stars)
      throw InputError(
          "black_holes.star_density = {} requires stars.enabled = true; enable stars, or set "
          "black_holes.star_density = 0",
          options_.star_density);
    const bool has_metals =
        std::find(setup.scalars.begin(), setup.scalars.end(), "metals") != setup.scalars.end();
    // The pressure and density floors follow from the initial state, so the gas is set in each
    // step.
    target_ = {.gas = {},
               .metals = has_metals ? setup.variable("metals") : -1,
               .passive = {setup.first_passive_scalar(), setup.passive_scalars()}};
    search_ = setup.event_search;
  }

  bool interact(SyncPoint& sync, Ledger& ledger) const override {
    const StepTime& step_time = sync.levels.front().step_time;
    const HoleStep step{.sync = sync,
                        .ledger = ledger,
                        .options = options_,
                        .search = search_,
                        .target = {.gas = sync.levels.front().gas,
                                   .metals = target_.metals,
                                   .coarsest = sync.coarsest,
                                   .passive = target_.passive},
                        .variables = sync.mesh.layout().swept,
                        .gravity = step_time.newton_constant,
                        .light = constants::k_speed_of_light / sync.units.velocity(),
                        .finest_cell = step_time.finest_cell};
    particles::Particles& sinks = sync.kind("sinks");
    std::vector<Hole> holes = read_holes(sinks, sync.coarsest);
    const bool any_before = feed(step, holes);
    if (any_before) write_holes(sinks, holes);
    if (sync.coarsest != 0) return any_before;
    const bool formed = form_holes(step);
    if (!any_before && !formed) return false;
    merge_holes(step, fastest_);
    if (options_.agn.enabled) {
      holes = read_holes(sinks, 0);
      release_energy(step, holes);
      write_holes(sinks, holes);
    }
    return true;
  }

 private:
  BlackHoleOptions options_;
  EventTarget target_{};
  EventSearch search_ = EventSearch::blocks;
  mutable friends::FastestMethod fastest_;  // timings of the methods; results do not depend on them
};

template <>
std::unique_ptr<Process> make_process<BlackHoles>() {
  return std::make_unique<BlackHoles>();
}

}  // namespace octant::subgrid
