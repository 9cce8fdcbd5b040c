// The collapse of a cold ball of gas (Evrard 1988): density M / (2 pi R^2 r) within the radius R,
// thermal energy 0.05 G M / R per mass, at rest. It falls in, bounces behind a shock, and settles.
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

constexpr int k_sub_cells = 4;  // of a cell along each axis, for its mean

class Evrard final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mass", mass_,
               {.unit = "mass", .meaning = "Mass of the gas sphere", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the gas sphere", .above = 0.0});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Centre of the gas sphere"});
    schema.add("problem.thermal_energy", thermal_energy_,
               {.unit = "G mass / radius",
                .meaning = "Specific thermal energy of the gas sphere",
                .above = 0.0});
    schema.add("problem.ambient_density", ambient_density_,
               {.unit = "mass / radius^3", .meaning = "Ambient density", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    gamma_ = setting.hydro.gamma;
    if (setting.G == 0.0)
      throw InputError("problem.name = \"evrard\" requires gravity.enabled = true");
    specific_energy_ = thermal_energy_ * setting.G * mass_ / radius_;
    const auto lower = setting.geometry.lower(), upper = setting.geometry.upper();
    for (int axis = 0; axis < 3; ++axis)
      if (centre_[axis] - radius_ < lower[axis] || centre_[axis] + radius_ > upper[axis])
        throw InputError(
            "problem.radius = {}: the ball does not fit into the domain along {}; enlarge the "
            "domain (mesh.lower, mesh.upper)",
            radius_, static_cast<char>('x' + axis));
  }

  GasState initial_state(const Position& centre, double cell_size) const override {
    double sum = 0.0;
    for (int n = 0; n < k_sub_cells * k_sub_cells * k_sub_cells; ++n) {
      const auto offset = [&](int place) {
        return ((place % k_sub_cells + 0.5) / k_sub_cells - 0.5) * cell_size;
      };
      sum += density(std::hypot(centre[0] - centre_[0] + offset(n),
                                centre[1] - centre_[1] + offset(n / k_sub_cells),
                                centre[2] - centre_[2] + offset(n / (k_sub_cells * k_sub_cells))));
    }
    GasState gas;
    gas.density = sum / (k_sub_cells * k_sub_cells * k_sub_cells);
    gas.pressure = (gamma_ - 1.0) * gas.density * specific_energy_;
    return gas;
  }

 private:
  double density(double r) const {
    const double ambient = ambient_density_ * mass_ / (radius_ * radius_ * radius_);
    return r < radius_ ? mass_ / (2.0 * M_PI * radius_ * radius_ * r) : ambient;
  }

  double mass_ = 1.0, radius_ = 1.0, thermal_energy_ = 0.05, ambient_density_ = 1e-5;
  Position centre_{0.0, 0.0, 0.0};

  double gamma_ = 5.0 / 3.0, specific_energy_ = 0.05;
};

}  // namespace

std::unique_ptr<Problem> make_evrard() { return std::make_unique<Evrard>(); }

}  // namespace octant::problems
