// Bondi accretion: spherical transonic accretion onto a black hole at rest (Bondi 1952, MNRAS 112,
// 195). The steady solution is the initial state, which the black hole must maintain.
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"
#include "subgrid/black_holes/holes.hpp"

namespace octant::problems {

namespace {

class Bondi final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Gas density at infinity", .above = 0.0});
    schema.add("problem.sound_speed", sound_speed_,
               {.unit = "velocity", .meaning = "Sound speed at infinity", .above = 0.0});
    schema.add(
        "problem.radius", radius_,
        {.unit = "length",
         .meaning = "Bondi radius G M / problem.sound_speed^2, which sets the black-hole mass M",
         .above = 0.0});
    schema.add("problem.inner_radius", inner_radius_,
               {.unit = "length",
                .meaning = "Radius within which the initial gas is uniform",
                .above = 0.0});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Position of the black hole"});
  }

  void prepare(const ProblemSetup& setup) override {
    const double G = setup.require_gravity("bondi");
    gamma_ = setup.hydro.gamma;
    if (!(gamma_ > 1.0 && gamma_ < 5.0 / 3.0))
      throw InputError("problem.name = \"bondi\": hydro.gamma = {}; expected 1 to 5/3", gamma_);
    mass_ = radius_ * sound_speed_ * sound_speed_ / G;
    // Accretion rate for the sonic point x_s = (5 - 3 gamma) / 4, with x = r / radius.
    const double power = (5.0 - 3.0 * gamma_) / (2.0 * (gamma_ - 1.0));
    sonic_ = 0.25 * (5.0 - 3.0 * gamma_);
    rate_ = 0.25 * std::pow(2.0 / (5.0 - 3.0 * gamma_), power);
  }

  GasState initial_state(const Position& position, double) const override {
    Position displacement;
    double r = 0.0;
    for (int d = 0; d < 3; ++d) {
      displacement[d] = position[d] - centre_[d];
      r += displacement[d] * displacement[d];
    }
    r = std::sqrt(r);
    const double x = std::max(r, inner_radius_) / radius_;
    const double density = density_at(x), speed = rate_ / (x * x * density) * sound_speed_;
    GasState gas{
        .density = density_ * density,
        .pressure = density_ * sound_speed_ * sound_speed_ / gamma_ * std::pow(density, gamma_)};
    if (r > 0.0)
      for (int d = 0; d < 3; ++d) gas.velocity[d] = -speed * displacement[d] / r;
    return gas;
  }

  std::vector<particles::Kind> particle_kinds() const override { return {subgrid::sinks()}; }

  particles::ParticleBatch initial_particles(const std::string&,
                                             const Communicator& communicator) override {
    if (!communicator.is_root()) return {};
    return {.position = {centre_},
            .velocity = {{0.0, 0.0, 0.0}},
            .mass = {mass_},
            .id = {subgrid::sinks().first_id()}};
  }

 private:
  // Bernoulli's equation, v^2 / 2 + (rho^(gamma - 1) - 1) / (gamma - 1) = 1 / x with v = rate /
  // (x^2 rho), has a subsonic, dense root and a supersonic, rarefied one. The flow follows the
  // subsonic root outside of the sonic point and the supersonic one inside. The root is found by
  // bisection in log rho, from the density at which v is the sound speed.
  double density_at(double x) const {
    const double flux = rate_ / (x * x);
    const double between = std::pow(flux, 2.0 / (gamma_ + 1.0));
    const auto excess = [&](double density) {
      const double v = flux / density;
      return 0.5 * v * v + (std::pow(density, gamma_ - 1.0) - 1.0) / (gamma_ - 1.0) - 1.0 / x;
    };
    const bool is_outside = x > sonic_;
    double near = std::log(between), far = near + (is_outside ? 20.0 : -20.0);
    if (excess(std::exp(near)) >= 0.0) return between;  // at the sonic point, to rounding
    for (int n = 0; n < 100; ++n) {
      const double middle = 0.5 * (near + far);
      (excess(std::exp(middle)) < 0.0 ? near : far) = middle;
    }
    return std::exp(near);
  }

  double density_ = 1.0, sound_speed_ = 1.0, radius_ = 1.0, inner_radius_ = 0.05;
  Position centre_{0.0, 0.0, 0.0};

  double gamma_ = 1.4, mass_ = 1.0, sonic_ = 0.2, rate_ = 0.625;
};

}  // namespace

std::unique_ptr<Problem> make_bondi() { return std::make_unique<Bondi>(); }

}  // namespace octant::problems
