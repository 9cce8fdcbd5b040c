// Gas that falls upon a wall, with mesh.boundary_x = ["inflow", "reflecting"], and cools behind the
// shock that comes back. What is between the shock and the cold layer at the wall is steady where
// cooling grows steeply enough with temperature (Chevalier & Imamura 1982, ApJ 261, 543).
#include "core/parameters.hpp"
#include "problems/factories.hpp"
#include "subgrid/gas_units.hpp"

namespace octant::problems {

namespace {

class RadiativeShock final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.speed", speed_,
               {.unit = "km/s",
                .meaning = "Gas velocity along x, towards the wall at the upper end",
                .above = 0.0});
    schema.add("problem.hydrogen_density", hydrogen_density_,
               {.unit = "cm^-3", .meaning = "Number density n_H of hydrogen nuclei", .above = 0.0});
    schema.add(
        "problem.temperature_over_mu", temperature_over_mu_,
        {.unit = "K", .meaning = "Temperature over the mean molecular weight", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    const subgrid::GasUnits units(setting.units);
    gas_.density = hydrogen_density_ / units.hydrogen;
    gas_.velocity = {1e5 * speed_ / units.velocity, 0.0, 0.0};
    gas_.pressure = gas_.density * temperature_over_mu_ / units.temperature;
  }

  GasState initial_state(const Position&, double) const override { return gas_; }
  GasState inflow_state(const InflowPlace&) const override { return gas_; }

 private:
  double speed_ = 200.0, hydrogen_density_ = 1.0, temperature_over_mu_ = 1e4;
  GasState gas_;
};

}  // namespace

std::unique_ptr<Problem> make_radiative_shock() { return std::make_unique<RadiativeShock>(); }

}  // namespace octant::problems
