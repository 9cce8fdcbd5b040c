// Stars in uniform gas, which explode when [supernovae] says so: a single one, or a swarm.
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "io/rows.hpp"
#include "problems/factories.hpp"
#include "subgrid/star_formation/stars.hpp"
#include "subgrid/units.hpp"

namespace octant::problems {

namespace {

class SupernovaeInGas final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.hydrogen_density", hydrogen_density_,
               {.unit = "cm^-3",
                .meaning = "Hydrogen nuclei n_H; the density is n_H m_p / 0.76",
                .above = 0.0});
    schema.add("problem.temperature_over_mu", temperature_over_mu_,
               {.unit = "K", .meaning = "Of the gas", .above = 0.0});
    schema.add("problem.metals", metals_,
               {.meaning = "Mass share of metals, in the gas and in stars", .min = 0, .max = 1.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Motion of everything along x, y, z"});
    schema.add("problem.stars", stars_, {.meaning = "How many there are", .min = 0});
    schema.add("problem.positions", positions_,
               {.unit = "length",
                .meaning = "x, y, z of the first star, then of the second one, ...; those that are "
                           "not named are anywhere in the domain"});
    schema.add("problem.star_mass", star_mass_,
               {.unit = "Msun", .meaning = "Mass of each star", .above = 0.0});
    schema.add("problem.star_speed", star_speed_,
               {.unit = "velocity",
                .meaning = "Largest component of the stars' random velocities in the gas",
                .min = 0});
    schema.add("problem.seed", seed_, {.meaning = "Of places and velocities", .min = 0});
  }

  void prepare(const Setting& setting) override {
    if (setting.units.length == 1.0 && setting.units.mass == 1.0)
      throw InputError(
          "problem.name = \"supernovae\" needs units.length, units.density and units.time");
    if (positions_.size() % 3 != 0 || std::ssize(positions_) > 3 * stars_)
      throw InputError(
          "problem.positions has {} numbers; expected three for each of problem.stars = {}, or "
          "fewer",
          positions_.size(), stars_);
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

  double begin(const Communicator& communicator) override {
    ranks_ = communicator.size();
    rank_ = communicator.rank();
    return 0.0;
  }

  GasState initial_state(const Position&, double) const override {
    GasState gas;
    gas.density = hydrogen_density_ / hydrogen_;
    gas.velocity = velocity_;
    gas.pressure = gas.density * temperature_over_mu_ / temperature_;
    if (place_of_metals_) gas.others.emplace_back(*place_of_metals_, metals_);
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override { return {subgrid::stars()}; }

  particles::ParticleBatch initial_particles(const std::string&) override {
    particles::ParticleBatch batch;
    const RowRange own = even_share(stars_, rank_, ranks_);
    for (std::int64_t n = own.begin; n < own.begin + own.count; ++n) {
      const auto number = static_cast<std::uint64_t>(n);
      const RandomStream random(static_cast<std::uint64_t>(seed_), number, 0);
      Position place, velocity;
      for (int d = 0; d < 3; ++d) {
        const auto given = static_cast<std::size_t>(3 * n + d);
        place[d] = given < positions_.size()
                       ? positions_[given]
                       : lower_[d] + (upper_[d] - lower_[d]) * random.uniform(d);
        velocity[d] = velocity_[d] + star_speed_ * (2.0 * random.uniform(3 + d) - 1.0);
      }
      batch.position.push_back(place);
      batch.velocity.push_back(velocity);
      batch.mass.push_back(star_mass_ * solar_mass_);
      batch.id.push_back(subgrid::stars().first_id() + number);
    }
    batch.columns = {{"metallicity", std::vector<double>(batch.size(), metals_)},
                     {"initial_mass", batch.mass}};
    return batch;
  }

 private:
  double hydrogen_density_ = 1.0, temperature_over_mu_ = 1e4, metals_ = 0.02;
  std::array<double, 3> velocity_{};
  std::int64_t stars_ = 1, seed_ = 1;
  std::vector<double> positions_;
  double star_mass_ = 50.0, star_speed_ = 0.0;

  double hydrogen_ = 1.0, temperature_ = 1.0, solar_mass_ = 1.0;
  std::optional<int> place_of_metals_;
  Position lower_{}, upper_{};
  int rank_ = 0, ranks_ = 1;
};

}  // namespace

std::unique_ptr<Problem> make_supernovae() { return std::make_unique<SupernovaeInGas>(); }

}  // namespace octant::problems
