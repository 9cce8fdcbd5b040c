// The vortex of Gresho & Chan (1990): steady rotation about the z axis in which pressure balances
// the centrifugal force, at any Mach number (Miczek, Roepke & Edelmann 2015, section 5.1).
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class Gresho final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.mach", mach_,
               {.meaning = "Maximum Mach number of the vortex", .above = 0.0});
    schema.add(
        "problem.speed", speed_,
        {.unit = "velocity", .meaning = "Maximum rotation velocity of the vortex", .above = 0.0});
    schema.add("problem.radius", radius_,
               {.unit = "length",
                .meaning = "Outer radius of the vortex; the rotation velocity peaks at half of it",
                .above = 0.0});
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Uniform gas density", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Bulk velocity of the vortex"});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Position of the vortex axis"});
  }

  void prepare(const Setting& setting) override {
    // At the radius of the largest speed the pressure is that of the centre plus rho speed^2 / 2.
    central_pressure_ =
        speed_ * speed_ * (density_ * (1.0 / (setting.hydro.gamma * mach_ * mach_) - 0.5));
    if (central_pressure_ <= 0.0)
      throw InputError(
          "problem.mach = {}: the pressure at the centre would be negative; expected less "
          "than {}",
          mach_, std::sqrt(2.0 / setting.hydro.gamma));
  }

  GasState initial_state(const Position& centre, double) const override {
    const double x = centre[0] - centre_[0], y = centre[1] - centre_[1];
    const double radius = std::sqrt(x * x + y * y);
    const double scaled = radius / (radius_ / k_radius);
    const double speed = speed_ * rotation(scaled);
    GasState gas;
    gas.density = density_;
    gas.velocity = velocity_;
    if (radius > 0.0) {
      gas.velocity[0] -= speed * y / radius;
      gas.velocity[1] += speed * x / radius;
    }
    gas.pressure = central_pressure_ + speed_ * speed_ * (density_ * pressure_rise(scaled));
    return gas;
  }

 private:
  // Speed and pressure of the vortex of the papers: radius 0.4, largest speed 1, density 1.
  static constexpr double k_radius = 0.4;
  static double rotation(double r) { return r < 0.2 ? 5.0 * r : r < 0.4 ? 2.0 - 5.0 * r : 0.0; }

  // The integral of rotation^2 / r from the axis outward.
  static double pressure_rise(double r) {
    if (r < 0.2) return 12.5 * r * r;
    if (r < 0.4) return 12.5 * r * r + 4.0 * (1.0 - 5.0 * r + std::log(5.0 * r));
    return 4.0 * std::log(2.0) - 2.0;
  }

  double mach_ = 0.36, speed_ = 1.0, radius_ = k_radius, density_ = 1.0;
  std::array<double, 3> velocity_{};
  Position centre_{0.5, 0.5, 0.5};
  double central_pressure_ = 0.0;
};

}  // namespace

std::unique_ptr<Problem> make_gresho() { return std::make_unique<Gresho>(); }

}  // namespace octant::problems
