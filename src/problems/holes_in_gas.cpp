// Black holes in uniform gas, which may turn around the domain's centre: a single one, a pair or a
// swarm.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "problems/swarm_in_gas.hpp"
#include "subgrid/black_holes/holes.hpp"

namespace octant::problems {

namespace {

class BlackHolesInGas final : public SwarmInGas {
 public:
  BlackHolesInGas() : SwarmInGas("black_holes", subgrid::sinks(), "hole") {}

  void declare(ParameterSchema& schema) override {
    SwarmInGas::declare(schema);
    schema.add(
        "problem.masses", masses_,
        {.unit = "Msun",
         .meaning =
             "Masses of the first, second, ... black hole; all others have problem.hole_mass",
         .above = 0.0});
    schema.add(
        "problem.velocities", velocities_,
        {.unit = "velocity",
         .meaning = "Velocities x, y, z of the first, second, ... black hole relative to the gas"});
    schema.add(
        "problem.spins", spins_,
        {.meaning = "Spin vectors c J / (G M^2), x, y, z of the first, second, ... black hole"});
    schema.add("problem.rotation", rotation_,
               {.unit = "1 / time",
                .meaning = "Angular velocity vector of the gas about the centre of the domain"});
  }

  void prepare(const Setting& setting) override {
    SwarmInGas::prepare(setting);
    check("masses", masses_.size(), 1);
    check("velocities", velocities_.size(), 3);
    check("spins", spins_.size(), 3);
    for (std::size_t n = 0; n < spins_.size(); n += 3)
      if (std::hypot(spins_[n], spins_[n + 1], spins_[n + 2]) > subgrid::k_largest_spin)
        throw InputError("problem.spins: spin {} is longer than {}", n / 3,
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

  double from_middle(const Position& place, int axis) const {
    return place[axis] - 0.5 * (lower_[axis] + upper_[axis]);
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

}  // namespace

std::unique_ptr<Problem> make_black_holes() { return std::make_unique<BlackHolesInGas>(); }

}  // namespace octant::problems
