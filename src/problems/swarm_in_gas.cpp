// Particles of one kind in uniform gas of given hydrogen number density: black holes, and exploding
// stars.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "io/row_range.hpp"
#include "problems/problem.hpp"
#include "subgrid/black_holes/holes.hpp"
#include "subgrid/gas_units.hpp"
#include "subgrid/star_formation/stars.hpp"

namespace octant::problems {

namespace {

// Base class of problems with particles of one kind at given or random positions. Requires [units].
class SwarmInGas : public Problem {
 public:
  // `word` names a particle in parameters, as in problem.star_mass.
  SwarmInGas(std::string problem, particles::Kind kind, std::string word);

  void declare(ParameterSchema& schema) override;
  void prepare(const ProblemSetup& setup) override;
  GasState initial_state(const Position& centre, double cell_size) const override;
  std::vector<particles::Kind> particle_kinds() const override { return {kind_}; }
  particles::ParticleBatch initial_particles(const std::string& kind,
                                             const Communicator& communicator) override;

 protected:
  // Sets columns other than id, position, velocity and mass: row `row` of a batch is particle
  // `number`. May change its velocity and mass.
  virtual void finish(particles::ParticleBatch& batch, std::size_t row,
                      std::size_t number) const = 0;

  std::int64_t count_ = 1;
  double metals_ = 0.02;
  std::vector<double> scalars_;
  std::array<double, 3> velocity_{};
  double solar_mass_ = 1.0;
  Position lower_{}, upper_{};

 private:
  std::string problem_, word_;
  particles::Kind kind_;
  double hydrogen_density_ = 1.0, temperature_over_mu_ = 1e4;
  std::int64_t seed_ = 1;
  std::vector<double> positions_;
  double mass_ = 50.0, speed_ = 0.0;

  double hydrogen_ = 1.0, temperature_ = 1.0;
  std::optional<int> metals_index_;
};

SwarmInGas::SwarmInGas(std::string problem, particles::Kind kind, std::string word)
    : problem_(std::move(problem)), word_(std::move(word)), kind_(std::move(kind)) {}

void SwarmInGas::declare(ParameterSchema& schema) {
  const std::string particle = "problem." + word_;
  const std::string noun = word_ == "hole" ? "black hole" : word_;
  schema.add("problem.hydrogen_density", hydrogen_density_,
             {.unit = "cm^-3",
              .meaning = "Number density n_H of hydrogen nuclei; the gas density is n_H m_p / 0.76",
              .above = 0.0});
  schema.add("problem.temperature_over_mu", temperature_over_mu_,
             {.unit = "K",
              .meaning = "Gas temperature divided by the mean molecular weight",
              .above = 0.0});
  schema.add("problem.metals", metals_,
             {.meaning = "Metal mass fraction of gas and stars", .min = 0, .max = 1.0});
  schema.add("problem.scalars", scalars_,
             {.meaning = "Concentrations of the passive scalars (hydro.scalars) in the gas"});
  schema.add("problem.velocity", velocity_,
             {.unit = "velocity", .meaning = "Bulk velocity of gas and particles"});
  schema.add(particle + "s", count_, {.meaning = "Number of " + noun + "s", .min = 0});
  schema.add(
      "problem.positions", positions_,
      {.unit = "length",
       .meaning = "Positions (x, y, z) of the " + noun +
                  "s, listed in order; those without an entry are placed randomly in the domain"});
  schema.add(particle + "_mass", mass_,
             {.unit = "Msun", .meaning = "Mass of each " + noun, .above = 0.0});
  schema.add(particle + "_speed", speed_,
             {.unit = "velocity",
              .meaning = "Maximum magnitude of each velocity component of the " + noun +
                         "s relative to the gas; components are drawn from a uniform distribution",
              .min = 0});
  schema.add("problem.seed", seed_,
             {.meaning = "Random seed for the positions and velocities", .min = 0});
}

void SwarmInGas::prepare(const ProblemSetup& setup) {
  if (setup.units.length == 1.0 && setup.units.mass == 1.0)
    throw InputError("problem.name = \"{}\" requires units.length, units.density and units.time",
                     problem_);
  if (positions_.size() % 3 != 0 || std::ssize(positions_) > 3 * count_)
    throw InputError(
        "problem.positions has {} numbers; expected three for each of problem.{}s = {}, or fewer",
        positions_.size(), word_, count_);
  const auto passive = static_cast<std::size_t>(
      std::ranges::count(setup.hydro.scalars, hydro::GasRole::passive, &hydro::GasVariable::role));
  if (scalars_.size() > passive)
    throw InputError("problem.scalars has {} concentrations; expected at most hydro.scalars = {}",
                     scalars_.size(), passive);
  const subgrid::GasUnits units(setup.units);
  hydrogen_ = units.hydrogen;
  temperature_ = units.temperature;
  solar_mass_ = constants::k_solar_mass / setup.units.mass;
  metals_index_ = setup.hydro.variable_index("metals");
  lower_ = setup.geometry.lower();
  upper_ = setup.geometry.upper();
  for (std::size_t n = 0; n < positions_.size(); ++n)
    if (!(positions_[n] >= lower_[n % 3] && positions_[n] < upper_[n % 3]))
      throw InputError("problem.positions: {} is outside the domain", positions_[n]);
}

GasState SwarmInGas::initial_state(const Position&, double) const {
  GasState gas;
  gas.density = hydrogen_density_ / hydrogen_;
  gas.velocity = velocity_;
  gas.pressure = gas.density * temperature_over_mu_ / temperature_;
  gas.scalars = scalars_;
  if (metals_index_) gas.others.emplace_back(*metals_index_, metals_);
  return gas;
}

particles::ParticleBatch SwarmInGas::initial_particles(const std::string&,
                                                       const Communicator& communicator) {
  particles::ParticleBatch batch;
  const RowRange own = even_share(count_, communicator.rank(), communicator.size());
  for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
    const auto number = static_cast<std::uint64_t>(n);
    const RandomStream random(static_cast<std::uint64_t>(seed_), number, 0);
    Position position, velocity;
    for (int d = 0; d < 3; ++d) {
      const auto given = static_cast<std::size_t>(3 * n + d);
      position[d] = given < positions_.size()
                        ? positions_[given]
                        : lower_[d] + (upper_[d] - lower_[d]) * random.uniform(d);
      velocity[d] = velocity_[d] + speed_ * (2.0 * random.uniform(3 + d) - 1.0);
    }
    batch.position.push_back(position);
    batch.velocity.push_back(velocity);
    batch.mass.push_back(mass_ * solar_mass_);
    batch.id.push_back(kind_.first_id() + number);
    finish(batch, batch.size() - 1, static_cast<std::size_t>(n));
  }
  return batch;
}

// Black holes in uniform gas, which may rotate around the domain's centre: a single one, a pair or
// a swarm.
class BlackHolesInGas final : public SwarmInGas {
 public:
  BlackHolesInGas() : SwarmInGas("black_holes", subgrid::sinks(), "hole") {}

  void declare(ParameterSchema& schema) override {
    SwarmInGas::declare(schema);
    schema.add("problem.masses", masses_,
               {.unit = "Msun",
                .meaning = "Masses of the black holes, listed in order; black holes without an "
                           "entry have the mass problem.hole_mass",
                .above = 0.0});
    schema.add(
        "problem.velocities", velocities_,
        {.unit = "velocity",
         .meaning =
             "Velocity components (x, y, z) of each black hole in turn, relative to the gas"});
    schema.add(
        "problem.spins", spins_,
        {.meaning = "Spin vectors c J / (G M^2) (x, y, z) of the black holes, listed in order"});
    schema.add("problem.rotation", rotation_,
               {.unit = "1 / time",
                .meaning = "Angular velocity vector of the gas about the centre of the domain"});
  }

  void prepare(const ProblemSetup& setup) override {
    SwarmInGas::prepare(setup);
    check("masses", masses_.size(), 1);
    check("velocities", velocities_.size(), 3);
    check("spins", spins_.size(), 3);
    for (std::size_t n = 0; n < spins_.size(); n += 3)
      if (std::hypot(spins_[n], spins_[n + 1], spins_[n + 2]) > subgrid::k_largest_spin)
        throw InputError("problem.spins: the magnitude of spin {} exceeds {}", n / 3,
                         subgrid::k_largest_spin);
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    GasState gas = SwarmInGas::initial_state(centre, cell_size);
    for (int d = 0; d < 3; ++d) {
      const int e = (d + 1) % 3, f = (d + 2) % 3;
      gas.velocity[d] +=
          rotation_[e] * from_middle(centre, f) - rotation_[f] * from_middle(centre, e);
    }
    return gas;
  }

 protected:
  void finish(particles::ParticleBatch& batch, std::size_t row, std::size_t number) const override {
    if (number < masses_.size()) batch.mass[row] = masses_[number] * solar_mass_;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t n = 3 * number + d;
      if (n < velocities_.size()) batch.velocity[row][d] = velocity_[d] + velocities_[n];
      std::get<std::vector<double>>(batch.columns[k_spins[d]])
          .push_back(n < spins_.size() ? spins_[n] : 0.0);
    }
  }

 private:
  static constexpr const char* k_spins[] = {"spin_x", "spin_y", "spin_z"};

  double from_middle(const Position& position, int axis) const {
    return position[axis] - 0.5 * (lower_[axis] + upper_[axis]);
  }

  void check(const char* name, std::size_t numbers, std::int64_t each) const {
    if (static_cast<std::int64_t>(numbers) % each != 0 ||
        static_cast<std::int64_t>(numbers) > each * count_)
      throw InputError(
          "problem.{} has {} numbers; expected {} for each of problem.holes = {}, or fewer", name,
          numbers, each, count_);
  }

  std::vector<double> masses_, velocities_, spins_;
  std::array<double, 3> rotation_{};
};

// Stars in uniform gas that explode according to [supernovae]: a single one, or a swarm.
class SupernovaeInGas final : public SwarmInGas {
 public:
  SupernovaeInGas() : SwarmInGas("supernovae", subgrid::stars(), "star") {}

 protected:
  void finish(particles::ParticleBatch& batch, std::size_t row, std::size_t) const override {
    const auto add = [&](const char* column, double value) {
      std::get<std::vector<double>>(batch.columns[column]).push_back(value);
    };
    add("metallicity", metals_);
    add("initial_mass", batch.mass[row]);
  }
};

}  // namespace

std::unique_ptr<Problem> make_black_holes() { return std::make_unique<BlackHolesInGas>(); }

std::unique_ptr<Problem> make_supernovae() { return std::make_unique<SupernovaeInGas>(); }

}  // namespace octant::problems
