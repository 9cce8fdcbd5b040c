// Star formation in dense, cold gas (Rasera & Teyssier 2006, A&A 445, 1): in each step, a
// Poisson-distributed number of equal mass quanta of a cell's gas becomes one particle. The
// remaining gas keeps its velocity, temperature and metallicity.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"
#include "core/memory_transfer.hpp"
#include "core/parameters.hpp"
#include "mesh/launch.hpp"
#include "subgrid/poisson.hpp"
#include "subgrid/process.hpp"
#include "subgrid/star_formation/efficiency.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::subgrid {

namespace star_formation {

struct Options {
  bool enabled = false;
  Model model = Model::schmidt;
  double efficiency = 0.02;
  double density = 0.1, overdensity = 200.0, temperature = 2e4;
  double mass = 0.0;
  double gas_limit = 0.9;
  std::int64_t seed = 1;

  void declare(ParameterSchema& schema);
};

void Options::declare(ParameterSchema& schema) {
  schema.add("stars.enabled", enabled,
             {.meaning = "Star formation in dense, cold gas; requires gravity.enabled = true"});
  schema.add(
      "stars.model", model,
      {.meaning =
           "Star formation law: constant efficiency per free-fall time (schmidt), an efficiency "
           "derived from the turbulence in the cell (multi_freefall_km, multi_freefall_pn, padoan, "
           "hopkins, virial), or a pressure law above a metallicity-dependent density threshold "
           "(pressure_law, Schaye & Dalla Vecchia 2008)"});
  schema.add("stars.efficiency", efficiency,
             {.meaning = "Star formation efficiency per free-fall time; for turbulence models, a "
                         "factor that multiplies the efficiency of the model",
              .min = 0});
  schema.add("stars.density", density,
             {.unit = "cm^-3",
              .meaning = "Minimum hydrogen number density of star-forming gas",
              .above = 0.0});
  schema.add("stars.overdensity", overdensity,
             {.unit = "mean gas density",
              .meaning = "Minimum overdensity of star-forming gas in a cosmological box, in "
                         "addition to stars.density",
              .min = 0});
  schema.add(
      "stars.temperature", temperature,
      {.unit = "K",
       .meaning =
           "Maximum T / mu of star-forming gas, without the contribution of the pressure floor",
       .above = 0.0});
  schema.add(
      "stars.mass", mass,
      {.unit = "Msun",
       .meaning = "Mass unit of star particles, whose masses are integer multiples of this unit; "
                  "0: gas mass of one cell of mesh.max_level at stars.density and a = 1",
       .min = 0});
  schema.add(
      "stars.gas_limit", gas_limit,
      {.meaning = "Maximum fraction of the gas in a cell that is converted to stars per step",
       .max = 1.0,
       .above = 0.0});
  schema.add("stars.seed", seed,
             {.meaning = "Random seed for stochastic star formation",
              .min = 0,
              .max = static_cast<double>(std::int64_t{1} << 40)});
}

// Star formation law with the constants of a level, in code units.
struct StarFormationLaw {
  Model model;
  double efficiency, gravity, min_density;
  bool density_of_metals;  // true if the threshold depends on metallicity
  double hottest;          // maximum internal energy per mass
  double quantum, gas_limit, step, seconds, gamma, dx;
  GasUnits units;
  cooling::PressureFloor floor;
  double pressure_floor;
  int metals, variables;

  // Thermal energy per mass without the floor of floor.kind, at least that of hydro.pressure_floor.
  KOKKOS_INLINE_FUNCTION double thermal_energy(const hydro::GasCell& cell) const {
    const double least = pressure_floor / ((gamma - 1.0) * cell.density());
    return Kokkos::max(cell.internal_energy() - floor.energy(cell.density()), least);
  }
  KOKKOS_INLINE_FUNCTION double metallicity(const hydro::GasCell& cell) const {
    const double share = cell[metals] / cell.density();
    return share > 0.0 ? (share < 1.0 ? share : 1.0) : 0.0;
  }
  KOKKOS_INLINE_FUNCTION bool is_eligible(const hydro::GasCell& cell) const {
    const double density = cell.density();
    if (!(density > min_density)) return false;
    if (density_of_metals &&
        !(units.hydrogen * density > pressure_law_threshold(metallicity(cell))))
      return false;
    return thermal_energy(cell) < hottest;
  }

  KOKKOS_INLINE_FUNCTION TurbulenceInCell turbulence(const hydro::GasCell& cell,
                                                     const hydro::GasGradients& around) const {
    const double thermal = thermal_energy(cell);
    return {around, cell.density(), Kokkos::sqrt(gamma * (gamma - 1.0) * thermal), dx, gravity};
  }

  // Mean number of quanta that form in a cell of this volume; `factor` multiplies the efficiency.
  KOKKOS_INLINE_FUNCTION double mean(const hydro::GasCell& cell, double volume,
                                     double factor) const {
    const double density = cell.density(), gas_mass = density * volume;
    if (model == Model::pressure_law)
      return pressure_law_rate({}, gamma, cell.pressure() * units.density * units.energy) *
             seconds * gas_mass / quantum;
    return mean_of_quanta(efficiency * factor, gas_mass, free_fall_time(density, gravity), quantum,
                          step);
  }
};

struct Eligible {
  GasLevel level;
  StarFormationLaw law;
  KOKKOS_INLINE_FUNCTION bool operator()(const mesh::Cell& cell) const {
    return law.is_eligible(level.at(cell));
  }
};

// Result of a step for an eligible cell, with the new star if `mass` is not 0.
struct Outcome {
  double expected, capped;  // mean stellar mass; mass drawn beyond the limit
  double mass, metals, thermal, momentum[3], kinetic;
  double position[3], velocity[3], density, temperature;
  TurbulentGas turbulence;
};

// Cells of a level that may form stars and, if the model requires them, the gradients of the gas.
struct CandidateCells {
  GasLevel level;
  StarFormationLaw law;
  std::vector<mesh::Cell> cells;
  mesh::DeviceArray<const hydro::GasGradients> around{};
};

struct FormStarsKernel {
  GasLevel level;
  StarFormationLaw law;
  std::uint64_t seed;
  mesh::DeviceArray<const mesh::Cell> cells;
  mesh::DeviceArray<const hydro::GasGradients> around;  // empty if the model does not require
                                                        // gradients
  mesh::DeviceArray<Outcome> outcomes;
  double lower[3];

  // Key of a cell that is unique within the level and independent of its block.
  KOKKOS_INLINE_FUNCTION std::uint64_t key(const mesh::DevicePosition& centre) const {
    std::uint64_t key = 0;
    for (int d = 0; d < 3; ++d)
      key = key << 21 | static_cast<std::uint64_t>((centre[d] - lower[d]) / level.cells.cell_size);
    return key;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t n) const {
    constexpr std::uint32_t k_draws = 64;  // draws per Poisson number; see poisson()
    const mesh::Cell at = cells(n);
    const hydro::GasCell cell = level.at(at);
    const double volume = level.cell_volume, gas_mass = cell.density() * volume;
    const mesh::DevicePosition centre = level.cells.centre(at);
    const RandomStream random(seed, key(centre),
                              static_cast<std::uint32_t>(level.step_time.coarse_step));
    const auto draw = k_draws * static_cast<std::uint32_t>(level.step_time.step_within);
    constexpr double k_unknown = std::numeric_limits<double>::quiet_NaN();
    TurbulentGas moving{k_unknown, k_unknown};
    double factor = 1.0;
    if (around.extent(0) > 0) {
      const TurbulenceInCell turbulence = law.turbulence(cell, around(n));
      moving = turbulence.gas();
      factor = turbulence.efficiency(law.model);
    }
    const double mean = law.mean(cell, volume, factor);
    const auto drawn = static_cast<double>(poisson(random, draw, mean));
    const double most = Kokkos::floor(law.gas_limit * gas_mass / law.quantum);
    const double quanta = drawn < most ? drawn : most;

    Outcome& outcome = outcomes(n);
    outcome = Outcome{};
    outcome.expected = mean * law.quantum;
    outcome.capped = (drawn - quanta) * law.quantum;
    if (quanta == 0.0) return;
    outcome.mass = quanta * law.quantum;
    outcome.metals = law.metallicity(cell);
    outcome.turbulence = moving;
    outcome.density = cell.density();
    outcome.temperature = law.thermal_energy(cell) * (law.gamma - 1.0) * law.units.temperature;
    for (int d = 0; d < 3; ++d) {
      outcome.position[d] = centre[d];
      outcome.velocity[d] = cell.velocity(d);
      outcome.momentum[d] = outcome.mass * outcome.velocity[d];
      outcome.kinetic += 0.5 * outcome.momentum[d] * outcome.velocity[d];
    }
    const double share = outcome.mass / gas_mass;
    outcome.thermal = share * cell[hydro::k_energy] * volume - outcome.kinetic;
    cell.take(share, law.variables);
  }
};

}  // namespace star_formation

class StarFormation final : public Process {
 public:
  const char* name() const override { return "stars"; }
  void declare(ParameterSchema& schema) override { options_.declare(schema); }
  bool is_wanted() const override { return options_.enabled; }

  std::vector<GasVariable> variables() const override { return {metals()}; }
  std::vector<particles::Kind> particle_kinds() const override { return {stars()}; }
  std::vector<std::string> accounts() const override {
    return {"formed",
            "expected",
            "capped",
            "formed_metals",
            "formed_thermal",
            "formed_momentum_x",
            "formed_momentum_y",
            "formed_momentum_z",
            "formed_kinetic"};
  }
  double added_energy(const Ledger& ledger) const override {
    return -ledger.total("formed_thermal");
  }

  void prepare(const ProcessSetup& setup) override {
    if (!setup.has_gas) throw InputError("[stars] requires hydro.enabled = true");
    if (!setup.has_gravity)
      throw InputError("stars.enabled = true requires gravity.enabled = true");
    if (!setup.has_units)
      throw InputError(
          "[stars] requires physical units: set units.length, units.density and units.time in cgs, "
          "or set cosmology.enabled = true");
    mean_gas_density_ = setup.mean_gas_density;
    metals_ = setup.variable("metals");
  }

  bool interact(SyncPoint& sync, Ledger& ledger) const override {
    particles::ParticleBatch born;
    std::vector<double> times, scale_factors, metallicities, masses;
    for (const star_formation::CandidateCells& candidate : find_candidates(sync))
      form(candidate, sync, ledger, born, metallicities);
    times.assign(born.size(), sync.time);
    scale_factors.assign(born.size(), sync.scale_factor);
    born.columns = {{"birth_time", std::move(times)},
                    {"birth_scale_factor", std::move(scale_factors)},
                    {"metallicity", std::move(metallicities)},
                    {"initial_mass", born.mass}};
    particles::Particles& stars = sync.kind("stars");
    const std::int64_t before = stars.assigned_ids();
    const std::size_t first = sync.births.size() - born.size();
    const auto ids = stars.create(std::move(born));
    for (std::size_t n = 0; n < ids.size(); ++n) sync.births[first + n].id = ids[n];
    return stars.assigned_ids() > before;
  }

 private:
  double quantum(const SyncPoint& sync, const GasLevel& level, const GasUnits& units) const {
    if (options_.mass > 0.0)
      return options_.mass * constants::k_solar_mass / level.step_time.units.mass;
    const mesh::Geometry& geometry = sync.mesh.geometry();
    const double a = level.step_time.scale_factor;
    return options_.density / (units.hydrogen * a * a * a) *
           geometry.cell_volume(geometry.max_level());
  }

  star_formation::StarFormationLaw law(const SyncPoint& sync, const GasLevel& level,
                                       double step) const {
    using star_formation::Model;
    const GasUnits units(level.step_time.units);
    const bool of_metals = options_.model == Model::pressure_law;
    const double least = of_metals ? pressure_law_threshold(1.0) : options_.density;
    const double gamma = level.gas.gamma;
    return {
        .model = options_.model,
        .efficiency = options_.efficiency,
        .gravity = level.step_time.newton_constant,
        .min_density = std::max(least / units.hydrogen, options_.overdensity * mean_gas_density_),
        .density_of_metals = of_metals,
        .hottest = options_.temperature / (units.temperature * (gamma - 1.0)),
        .quantum = quantum(sync, level, units),
        .gas_limit = options_.gas_limit,
        .step = step,
        .seconds = step * units.time,
        .gamma = gamma,
        .dx = level.cells.cell_size,
        .units = units,
        .floor = level.floor,
        .pressure_floor = level.gas.pressure_floor,
        .metals = metals_,
        .variables = sync.mesh.layout().swept};
  }

  // Returns the candidate cells by level. Gradients are computed before star formation removes gas.
  std::vector<star_formation::CandidateCells> find_candidates(const SyncPoint& sync) const {
    using namespace star_formation;
    std::vector<CandidateCells> candidates;
    int levels = 0;  // number of levels up to the finest one with candidates
    for (std::size_t n = 0; n < sync.levels.size(); ++n) {
      const GasLevel& level = sync.levels[n];
      const StarFormationLaw law = this->law(sync, level, sync.steps[n]);
      candidates.push_back(
          {level, law,
           mesh::find_cells("gas that may form stars", level.cells, Eligible{level, law})});
      if (!candidates.back().cells.empty()) levels = static_cast<int>(n) + 1;
    }
    if (!depends_on_turbulence(options_.model)) return candidates;
    levels = sync.mesh.communicator().max(levels);
    for (int n = 0; n < levels; ++n) {
      sync.fill_ghosts(n);
      candidates[n].around =
          hydro::gas_gradients(sync.mesh, sync.levels[n].number, candidates[n].cells);
    }
    return candidates;
  }

  // Forms the stars of a level and appends them to `born`.
  void form(const star_formation::CandidateCells& candidate, SyncPoint& sync, Ledger& ledger,
            particles::ParticleBatch& born, std::vector<double>& metallicities) const {
    using namespace star_formation;
    const auto& [level, law, cells, around] = candidate;
    if (cells.empty()) return;
    const auto count = static_cast<std::int64_t>(cells.size());
    const auto& lower = sync.mesh.geometry().lower();
    // The seed includes the level, which makes the random numbers of levels independent.
    const std::uint64_t seed = static_cast<std::uint64_t>(options_.seed) +
                               (static_cast<std::uint64_t>(level.number) << 48);
    const FormStarsKernel kernel{level,
                                 law,
                                 seed,
                                 mesh::to_device("gas that may form stars", cells),
                                 around,
                                 mesh::uninitialised<Outcome>("stars", count),
                                 {lower[0], lower[1], lower[2]}};
    mesh::for_items("form stars", count, kernel);
    const auto outcomes = on_host(TransferKind::lists, kernel.outcomes);
    for (std::int64_t c = 0; c < count; ++c) {
      const Outcome& outcome = outcomes(c);
      ledger["expected"] += outcome.expected;
      if (outcome.capped > 0.0) ledger["capped"] += outcome.capped;
      if (outcome.mass == 0.0) continue;
      enter(outcome, ledger);
      add_star(outcome, level, law, sync, born, metallicities);
    }
  }

  static void enter(const star_formation::Outcome& outcome, Ledger& ledger) {
    ledger["formed"] += outcome.mass;
    ledger["formed_metals"] += outcome.mass * outcome.metals;
    ledger["formed_thermal"] += outcome.thermal;
    ledger["formed_momentum_x"] += outcome.momentum[0];
    ledger["formed_momentum_y"] += outcome.momentum[1];
    ledger["formed_momentum_z"] += outcome.momentum[2];
    ledger["formed_kinetic"] += outcome.kinetic;
  }

  static void add_star(const star_formation::Outcome& outcome, const GasLevel& level,
                       const star_formation::StarFormationLaw& law, SyncPoint& sync,
                       particles::ParticleBatch& born, std::vector<double>& metallicities) {
    const StarBirth birth{
        .level = level.number,
        .position = {outcome.position[0], outcome.position[1], outcome.position[2]},
        .velocity = {outcome.velocity[0], outcome.velocity[1], outcome.velocity[2]},
        .mass = outcome.mass,
        .metallicity = outcome.metals,
        .hydrogen = law.units.hydrogen * outcome.density,
        .temperature = outcome.temperature,
        .virial_parameter = outcome.turbulence.virial_parameter,
        .mach = outcome.turbulence.mach};
    born.position.push_back(birth.position);
    born.velocity.push_back(birth.velocity);
    born.mass.push_back(birth.mass);
    metallicities.push_back(birth.metallicity);
    sync.births.push_back(birth);
  }

  star_formation::Options options_;
  double mean_gas_density_ = 0.0;
  int metals_ = -1;
};

template <>
std::unique_ptr<Process> make_process<StarFormation>() {
  return std::make_unique<StarFormation>();
}

}  // namespace octant::subgrid
