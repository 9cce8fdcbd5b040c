#include "problems/swarm_in_gas.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "io/row_range.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

SwarmInGas::SwarmInGas(std::string problem, particles::Kind kind, std::string word)
    : problem_(std::move(problem)), word_(std::move(word)), kind_(std::move(kind)) {}

void SwarmInGas::declare(ParameterSchema& schema) {
  const std::string particle = "problem." + word_;
  const std::string noun = word_ == "hole" ? "black hole" : word_;
  schema.add("problem.hydrogen_density", hydrogen_density_,
             {.unit = "cm^-3",
              .meaning = "Number density n_H of hydrogen nuclei; the gas density is n_H m_p / 0.76",
              .above = 0.0});
  schema.add(
      "problem.temperature_over_mu", temperature_over_mu_,
      {.unit = "K", .meaning = "Gas temperature over the mean molecular weight", .above = 0.0});
  schema.add("problem.metals", metals_,
             {.meaning = "Metal mass fraction of gas and stars", .min = 0, .max = 1.0});
  schema.add("problem.scalars", scalars_,
             {.meaning = "Concentrations of the passive scalars (hydro.scalars) in the gas"});
  schema.add("problem.velocity", velocity_,
             {.unit = "velocity", .meaning = "Bulk velocity of gas and particles"});
  schema.add(particle + "s", count_, {.meaning = "Number of " + noun + "s", .min = 0});
  schema.add("problem.positions", positions_,
             {.unit = "length",
              .meaning = "Positions x, y, z of the first, second, ... " + noun +
                         "; all others are placed at random in the domain"});
  schema.add(particle + "_mass", mass_,
             {.unit = "Msun", .meaning = "Mass of each " + noun, .above = 0.0});
  schema.add(particle + "_speed", speed_,
             {.unit = "velocity",
              .meaning = "Maximum of each component of the " + noun +
                         "s' random velocities relative to the gas",
              .min = 0});
  schema.add("problem.seed", seed_,
             {.meaning = "Seed of the random positions and velocities", .min = 0});
}

void SwarmInGas::prepare(const Setting& setting) {
  if (setting.units.length == 1.0 && setting.units.mass == 1.0)
    throw InputError("problem.name = \"{}\" requires units.length, units.density and units.time",
                     problem_);
  if (positions_.size() % 3 != 0 || std::ssize(positions_) > 3 * count_)
    throw InputError(
        "problem.positions has {} numbers; expected three for each of problem.{}s = {}, or fewer",
        positions_.size(), word_, count_);
  const auto passive = static_cast<std::size_t>(std::ranges::count(
      setting.hydro.scalars, hydro::GasRole::passive, &hydro::GasVariable::role));
  if (scalars_.size() > passive)
    throw InputError(
        "problem.scalars has {} concentrations; expected at most hydro.scalars = {} of them",
        scalars_.size(), passive);
  const subgrid::GasUnits units(setting.units);
  hydrogen_ = units.hydrogen;
  temperature_ = units.temperature;
  solar_mass_ = constants::k_solar_mass / setting.units.mass;
  place_of_metals_ = setting.hydro.place("metals");
  lower_ = setting.geometry.lower();
  upper_ = setting.geometry.upper();
  for (std::size_t n = 0; n < positions_.size(); ++n)
    if (!(positions_[n] >= lower_[n % 3] && positions_[n] < upper_[n % 3]))
      throw InputError("problem.positions: {} is outside of the domain", positions_[n]);
}

double SwarmInGas::begin(const Communicator& communicator) {
  ranks_ = communicator.size();
  rank_ = communicator.rank();
  return 0.0;
}

GasState SwarmInGas::initial_state(const Position&, double) const {
  GasState gas;
  gas.density = hydrogen_density_ / hydrogen_;
  gas.velocity = velocity_;
  gas.pressure = gas.density * temperature_over_mu_ / temperature_;
  gas.scalars = scalars_;
  if (place_of_metals_) gas.others.emplace_back(*place_of_metals_, metals_);
  return gas;
}

particles::ParticleBatch SwarmInGas::initial_particles(const std::string&) {
  particles::ParticleBatch batch;
  const RowRange own = even_share(count_, rank_, ranks_);
  for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
    const auto number = static_cast<std::uint64_t>(n);
    const RandomStream random(static_cast<std::uint64_t>(seed_), number, 0);
    Position place, velocity;
    for (int d = 0; d < 3; ++d) {
      const auto given = static_cast<std::size_t>(3 * n + d);
      place[d] = given < positions_.size()
                     ? positions_[given]
                     : lower_[d] + (upper_[d] - lower_[d]) * random.uniform(d);
      velocity[d] = velocity_[d] + speed_ * (2.0 * random.uniform(3 + d) - 1.0);
    }
    batch.position.push_back(place);
    batch.velocity.push_back(velocity);
    batch.mass.push_back(mass_ * solar_mass_);
    batch.id.push_back(kind_.first_id() + number);
    finish(batch, batch.size() - 1, static_cast<std::size_t>(n));
  }
  return batch;
}

}  // namespace octant::problems
