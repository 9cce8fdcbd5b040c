// Supernova feedback at the end of coarse steps, when all levels and particles are synchronised. An
// event model (apply_events()) changes the gas around a star; the mass of the star is reduced by
// its ejecta.
#include <algorithm>
#include <array>
#include <cmath>

#include "comm/succeeds.hpp"
#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "mesh/launch.hpp"
#include "subgrid/events/apply_events.hpp"
#include "subgrid/poisson.hpp"
#include "subgrid/process.hpp"
#include "subgrid/star_formation/stars.hpp"
#include "subgrid/supernovae/blasts.hpp"
#include "subgrid/supernovae/population.hpp"

namespace octant::subgrid {

namespace supernovae {

enum class Mode { none, mechanical, kinetic, thermal, stochastic };
constexpr auto names_of(Mode) {
  return std::array{"none", "mechanical", "kinetic", "thermal", "stochastic"};
}

constexpr double k_megayear = 1e6 * constants::k_year;
// Ejecta mass of a type Ia supernova in solar masses, and metal mass fraction of solar metallicity.
constexpr double k_chandrasekhar_mass = 1.4, k_solar_fraction = 0.02;
// Maximum fraction of the mass of a star particle that is ejected in a step.
constexpr double k_max_ejected = 0.9;

struct Options {
  Mode mode = Mode::none;
  Population population = Population::single;
  std::string table;
  double least_ejecta = 1e-3;
  double fraction = 0.2, energy = 1e51, mass = 10.0, yield = 0.1, delay = 10.0;
  double radius = 2.0, least_radius = 0.0;
  double kinetic_fraction = 1.0;
  double heating = 3.1622776601683794e7;
  std::int64_t seed = 1;

  void declare(ParameterSchema& schema);
};

void Options::declare(ParameterSchema& schema) {
  schema.add(
      "supernovae.mode", mode,
      {.meaning =
           "Supernova feedback scheme: momentum and thermal energy that account for unresolved "
           "cooling (mechanical), the velocity field of a Sedov blast wave (kinetic), thermal "
           "energy (thermal), or stochastic heating of a few cells (stochastic)"});
  schema.add("supernovae.population", population,
             {.meaning = "Supernova population: all core-collapse supernovae of a star particle at "
                         "one age (single), individual supernovae at the rates of Hopkins et al. "
                         "(2018) (discrete), or yields from supernovae.table (table)"});
  schema.add("supernovae.table", table,
             {.meaning = "HDF5 file of cumulative stellar yields as functions of age and "
                         "metallicity, for supernovae.population = \"table\"",
              .is_data_file = true});
  schema.add(
      "supernovae.least_ejecta", least_ejecta,
      {.meaning = "Minimum ejected fraction of the initial stellar mass per event, for "
                  "supernovae.population = \"table\"; larger values give fewer, larger events",
       .min = 0,
       .below = 1.0});
  schema.add("supernovae.fraction", fraction,
             {.meaning = "Fraction of the initial stellar mass that is ejected, for "
                         "supernovae.population = \"single\"",
              .above = 0.0,
              .below = 1.0});
  schema.add("supernovae.delay", delay,
             {.unit = "Myr",
              .meaning = "Stellar age at which core-collapse supernovae explode, for "
                         "supernovae.population = \"single\"",
              .min = 0});
  schema.add("supernovae.energy", energy,
             {.unit = "erg", .meaning = "Energy per supernova", .min = 0});
  schema.add("supernovae.mass", mass,
             {.unit = "Msun",
              .meaning = "Ejecta mass per core-collapse supernova; sets the number of supernovae "
                         "per star particle for supernovae.population = \"single\"",
              .above = 0.0});
  schema.add(
      "supernovae.yield", yield,
      {.meaning =
           "Metal yield: fraction of the ejected hydrogen and helium that is converted to metals",
       .min = 0,
       .max = 1.0});
  schema.add("supernovae.radius", radius,
             {.unit = "cells of the star's level",
              .meaning = "Radius of energy and mass injection, at least supernovae.least_radius; "
                         "0: only the star's own cell",
              .min = 0});
  schema.add("supernovae.least_radius", least_radius,
             {.unit = "pc", .meaning = "Minimum radius of energy and mass injection", .min = 0});
  schema.add("supernovae.kinetic_fraction", kinetic_fraction,
             {.meaning = "Fraction of the supernova energy injected as kinetic energy in kinetic "
                         "and mechanical feedback",
              .min = 0,
              .max = 1.0});
  schema.add("supernovae.heating", heating,
             {.unit = "K",
              .meaning = "Temperature increase of a cell heated by stochastic feedback, for a mean "
                         "molecular weight of 0.6",
              .above = 0.0});
  schema.add("supernovae.seed", seed,
             {.meaning = "Random seed for stochastic feedback and discrete supernovae",
              .min = 0,
              .max = static_cast<double>(std::int64_t{1} << 40)});
}

// Exploding stars of a level: rows in the particle set, and remaining masses.
struct Exploding {
  std::vector<std::int32_t> rows;
  std::vector<double> mass_left;
};

// Selects stars that may explode. If stars explode `once`, those that have lost mass may not.
struct MayExplode {
  bool once;
  const double *mass, *initial_mass;
  KOKKOS_INLINE_FUNCTION bool operator()(int row) const {
    return !once || mass[row] == initial_mass[row];
  }
};

struct Lighten {
  double* mass;
  mesh::DeviceArray<const std::int32_t> rows;
  mesh::DeviceArray<const double> left;
  KOKKOS_INLINE_FUNCTION void operator()(int n) const { mass[rows(n)] = left(n); }
};

}  // namespace supernovae

class Supernovae final : public Process {
 public:
  const char* name() const override { return "supernovae"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.mode != supernovae::Mode::none; }

  std::vector<GasVariable> variables() const override { return {metals()}; }
  std::vector<particles::Kind> particle_kinds() const override { return {stars()}; }
  std::vector<std::string> accounts() const override {
    return {"number",     "mass",   "metals",  "momentum_x",  "momentum_y",
            "momentum_z", "energy", "nominal", "floor_energy"};
  }
  double added_energy(const Ledger& ledger) const override {
    return ledger.total("energy") + ledger.total("floor_energy");
  }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[supernovae] requires hydro.enabled = true");
    if (!setup.has_units)
      throw InputError(
          "[supernovae] requires physical units: set units.length, units.density and units.time in "
          "cgs, or set cosmology.enabled = true");
    const mesh::Geometry& geometry = setup.geometry;
    for (int d = 0; d < 3; ++d)
      if (options_.radius * geometry.cell_size(0) >=
          0.5 * (geometry.upper()[d] - geometry.lower()[d]))
        throw InputError(
            "supernovae.radius = {}: the injection radius must be smaller than half of the domain; "
            "expected less than {} cells",
            options_.radius,
            0.5 * (geometry.upper()[d] - geometry.lower()[d]) / geometry.cell_size(0));
    const bool delays = std::ranges::find(setup.scalars, "delayed") != setup.scalars.end();
    if (delays && options_.mode == supernovae::Mode::mechanical)
      throw InputError(
          "supernovae.mode = \"mechanical\" is incompatible with cooling.delayed = true: the "
          "terminal momentum assumes cooling");
    const bool by_table = options_.population == Population::table;
    if (by_table && options_.table.empty())
      throw InputError(
          "supernovae.population = \"table\" requires supernovae.table, a file of stellar yields");
    if (!by_table && !options_.table.empty())
      throw InputError("supernovae.table = \"{}\" requires supernovae.population = \"table\"",
                       options_.table);
    metals_ = setup.variable("metals");
    passive_ = {setup.first_passive_scalar(), setup.passive_scalars()};
    delayed_ = delays ? setup.variable("delayed") : -1;
    search_ = setup.event_search;
  }

  void begin(const Communicator& communicator) override {
    if (!options_.table.empty()) table_ = PopulationTable(communicator, options_.table);
  }

  bool interact(SyncPoint& sync, Ledger& ledger) const override {
    if (sync.coarsest != 0) return false;
    particles::Particles& stars = sync.kind("stars");
    std::vector<Supernova> events;
    std::vector<supernovae::Exploding> exploding;
    for (int level = 0; level <= sync.mesh.finest_level(); ++level)
      exploding.push_back(find(sync, stars, level, events, ledger));
    const Communicator& communicator = sync.mesh.communicator();
    const auto check = [&] { check_reach(sync, events); };
    std::int32_t on_any_rank[] = {!events.empty(), !succeeds(check)};
    communicator.max_in_place(std::span<std::int32_t>(on_any_rank));
    if (on_any_rank[0] == 0) return false;
    if (on_any_rank[1] != 0) communicator.collective_try(check);
    // The kinetic energy of the ejecta before the explosion comes from the stars: no added energy.
    for (const Supernova& event : events) {
      ledger["nominal"] += event.energy;
      ledger["energy"] += -energy_of_motion(event);
    }
    const InjectedSums injected = explode(sync, events);
    constexpr std::array k_accounts{"mass",   "momentum_x", "momentum_y",  "momentum_z",
                                    "energy", "metals",     "floor_energy"};
    static_assert(k_accounts.size() == InjectedSums::k_sums);
    for (std::size_t n = 0; n < k_accounts.size(); ++n) ledger[k_accounts[n]] += injected.sums[n];
    for (int level = 0; level <= sync.mesh.finest_level(); ++level)
      reduce_masses(stars.set(level), exploding[level]);
    return true;
  }

 private:
  // Star particle at the end of a step, in solar masses and Myr.
  struct Star {
    std::uint64_t id;
    double age, initial_mass, mass, metallicity;
  };

  // Ejecta of a star in a step: number of supernovae, mass in Msun, and metal mass fraction.
  struct Ejecta {
    double number = 0.0, mass = 0.0, metals = 0.0;
  };

  double metals_of_cores(const Star& star) const {
    return options_.yield + (1.0 - options_.yield) * star.metallicity;
  }

  Ejecta single(const Star& star) const {
    if (star.age < options_.delay) return {};
    const double mass = options_.fraction * star.initial_mass;
    return {mass / options_.mass, mass, metals_of_cores(star)};
  }

  // Draws Poisson numbers of supernovae, whose means are the expected numbers in the step.
  Ejecta discrete(const Star& star, double step, std::int64_t coarse_step) const {
    const SupernovaCounts now = supernovae_until(star.age),
                          before = supernovae_until(star.age - step);
    const RandomStream random(static_cast<std::uint64_t>(options_.seed), star.id,
                              static_cast<std::uint32_t>(coarse_step));
    const auto draw = [&](std::uint32_t first, double mean) {
      return static_cast<double>(poisson(random, first, star.initial_mass * mean));
    };
    constexpr std::uint32_t k_draws_of_dwarfs = 1 << 16;
    const double cores = draw(0, now.core_collapses - before.core_collapses);
    const double dwarfs = draw(k_draws_of_dwarfs, now.white_dwarfs - before.white_dwarfs);
    const double of_dwarfs = dwarfs * supernovae::k_chandrasekhar_mass;
    const double mass = cores * options_.mass + of_dwarfs;
    if (mass == 0.0) return {};
    const double share = of_dwarfs / mass;  // metal ejecta of type Ia supernovae
    return {cores + dwarfs, mass, share + (1.0 - share) * metals_of_cores(star)};
  }

  // Returns the ejecta since the age at which the table gives the mass that the star has lost.
  Ejecta tabulated(const Star& star) const {
    const double given = 1.0 - star.mass / star.initial_mass;
    const StellarYields now = table_.until(star.age, star.metallicity);
    const double due = now.mass - given;
    if (due <= PopulationTable::k_rounding || due < options_.least_ejecta) return {};
    const StellarYields before =
        table_.until(table_.age_of(given, star.metallicity), star.metallicity);
    return {star.initial_mass * (now.supernovae - before.supernovae), star.initial_mass * due,
            std::min((now.metals - before.metals) / due, 1.0)};
  }

  Ejecta ejecta(const Star& star, double step, std::int64_t coarse_step) const {
    switch (options_.population) {
      case Population::single: return single(star);
      case Population::discrete: return discrete(star, step, coarse_step);
      case Population::table: return tabulated(star);
    }
    return {};
  }

  // Finds the exploding stars of a level and appends their events.
  supernovae::Exploding find(const SyncPoint& sync, particles::Particles& stars, int level,
                             std::vector<Supernova>& events, Ledger& ledger) const {
    const particles::Kind& kind = stars.kind();
    const particles::ParticleSet& set = stars.set(level);
    const auto real = [&](const char* name) {
      return particles::k_real_columns + kind.column_index(name);
    };
    const bool once = options_.population == Population::single;
    const auto rows = particles::select_rows(
        set.count(), supernovae::MayExplode{once, set.columns().mass,
                                            set.extra_real(kind.column_index("initial_mass"))});
    const auto births = set.reals(real("birth_time"), rows);
    const auto initials = set.reals(real("initial_mass"), rows);
    const auto metallicities = set.reals(real("metallicity"), rows);
    const auto masses = set.reals(particles::k_mass, rows);
    const auto ids = set.ids(rows);
    const auto homes = set.homes(rows);
    std::array<std::vector<double>, 6> motion;
    for (int d = 0; d < 3; ++d) {
      motion[d] = set.reals(particles::k_position + d, rows);
      motion[3 + d] = set.reals(particles::k_velocity + d, rows);
    }

    const double solar_mass = constants::k_solar_mass / sync.units.mass;
    const double now = sync.seconds(sync.time);
    const double step = now - sync.seconds(sync.time - sync.steps.front());
    const double radius = std::max(options_.radius * sync.mesh.geometry().cell_size(level),
                                   options_.least_radius * constants::k_parsec / sync.units.length);
    supernovae::Exploding exploding;
    for (std::size_t n = 0; n < rows.size(); ++n) {
      const Star star{.id = ids[n],
                      .age = (now - sync.seconds(births[n])) / supernovae::k_megayear,
                      .initial_mass = initials[n] / solar_mass,
                      .mass = masses[n] / solar_mass,
                      .metallicity = metallicities[n]};
      const Ejecta given =
          ejecta(star, step / supernovae::k_megayear, sync.levels.front().step_time.coarse_step);
      if (given.mass == 0.0) continue;
      const double ejected =
          std::min(given.mass * solar_mass, supernovae::k_max_ejected * masses[n]);
      Supernova event{{.id = ids[n], .radius = radius, .level = level, .slot = homes[n]},
                      {},
                      ejected,
                      given.number * options_.energy / sync.units.energy(),
                      given.metals};
      for (int d = 0; d < 3; ++d) {
        event.region.centre[d] = motion[d][n];
        event.velocity[d] = motion[3 + d][n];
      }
      events.push_back(event);
      ledger["number"] += given.number;
      exploding.rows.push_back(rows[n]);
      exploding.mass_left.push_back(masses[n] - ejected);
    }
    return exploding;
  }

  void check_reach(const SyncPoint& sync, const std::vector<Supernova>& events) const {
    const mesh::Geometry& geometry = sync.mesh.geometry();
    for (const Supernova& event : events)
      for (int d = 0; d < 3; ++d)
        if (2.0 * event.region.radius >= geometry.upper()[d] - geometry.lower()[d])
          throw RunError(
              "supernovae.least_radius = {} pc: the injection region would extend over half of the "
              "domain, {} of {} code units",
              options_.least_radius, event.region.radius,
              geometry.upper()[d] - geometry.lower()[d]);
  }

  // Gas parameters. Their floors follow from the initial state and are unknown in prepare().
  static const hydro::Gas& gas_of(const SyncPoint& sync) { return sync.levels.front().gas; }

  InjectedSums explode(const SyncPoint& sync, const std::vector<Supernova>& events) const {
    using supernovae::Mode;
    const auto apply = [&](const auto& model, const auto& model_events) {
      using Event = typename std::decay_t<decltype(model)>::Event;
      return apply_events(
          sync.mesh, model,
          EventTarget{
              .gas = gas_of(sync), .metals = metals_, .ejecta = delayed_, .passive = passive_},
          std::span<const Event>(model_events), search_);
    };
    if (options_.mode == Mode::mechanical)
      return apply(MechanicalBlast{options_.kinetic_fraction}, measure_surroundings(sync, events));
    if (options_.mode == Mode::stochastic) {
      constexpr double k_weight = 0.6;  // mean molecular weight of hot gas
      const double temperature = sync.units.temperature();
      const double heat = options_.heating / (k_weight * temperature * (gas_of(sync).gamma - 1.0));
      return apply(
          StochasticBlast{heat, static_cast<std::uint64_t>(options_.seed),
                          static_cast<std::uint32_t>(sync.levels.front().step_time.coarse_step)},
          events);
    }
    return apply(KineticBlast{options_.mode == Mode::kinetic ? options_.kinetic_fraction : 0.0},
                 events);
  }

  // Returns the events with the state of the ambient gas.
  std::vector<MechanicalBlast::Event> measure_surroundings(
      const SyncPoint& sync, const std::vector<Supernova>& events) const {
    const auto surroundings =
        sum_events(sync.mesh, BlastSurroundings{metals_}, EventTarget{gas_of(sync), metals_},
                   std::span<const Supernova>(events), search_);
    const GasUnits units(sync.units);
    std::vector<MechanicalBlast::Event> known;
    for (std::size_t n = 0; n < events.size(); ++n) {
      const auto& around = surroundings[n];
      const double energy = events[n].energy * sync.units.energy();
      const double hydrogen = units.hydrogen * around.density;
      const double solar = around.metals / supernovae::k_solar_fraction;
      MechanicalBlast::Event event{events[n], around, 0.0, 0.0};
      if (around.solid_angle > 0.0) {
        event.terminal_momentum =
            terminal_momentum(energy, hydrogen, solar) / (sync.units.mass * sync.units.velocity());
        event.cooling_radius = cooling_radius(energy, hydrogen, solar) / sync.units.length;
      }
      known.push_back(event);
    }
    return known;
  }

  static void reduce_masses(particles::ParticleSet& set, const supernovae::Exploding& exploding) {
    if (exploding.rows.empty()) return;
    const supernovae::Lighten kernel{set.columns().mass,
                                     mesh::to_device("exploding stars", exploding.rows),
                                     mesh::to_device("remaining mass", exploding.mass_left)};
    mesh::for_items("reduce star masses", std::ssize(exploding.rows), kernel);
  }

  supernovae::Options options_;
  PopulationTable table_;
  int metals_ = -1, delayed_ = -1;
  PassiveScalars passive_;
  EventSearch search_ = EventSearch::blocks;
};

template <>
std::unique_ptr<Process> make_process<Supernovae>() {
  return std::make_unique<Supernovae>();
}

}  // namespace octant::subgrid
