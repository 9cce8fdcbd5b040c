// The Kelvin-Helmholtz instability of two smooth shear layers, seeded with one mode (McNally, Lyra
// & Passy 2012). Lengths are in units of the periodic domain: the dense layer lies between y = 1/4
// and 3/4.
#include <cmath>

#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class KelvinHelmholtz final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.outer_density", outer_density_,
               {.unit = "density", .meaning = "Density outside the layer", .above = 0.0});
    schema.add("problem.inner_density", inner_density_,
               {.unit = "density", .meaning = "Density of the layer", .above = 0.0});
    schema.add("problem.outer_velocity", outer_velocity_,
               {.unit = "velocity", .meaning = "Velocity along x outside the layer"});
    schema.add("problem.inner_velocity", inner_velocity_,
               {.unit = "velocity", .meaning = "Velocity along x of the layer"});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure", .meaning = "Uniform gas pressure", .above = 0.0});
    schema.add("problem.width", width_,
               {.unit = "domain",
                .meaning = "Width of the shear layers, as a fraction of the domain height",
                .above = 0.0});
    schema.add("problem.amplitude", amplitude_,
               {.unit = "velocity",
                .meaning = "Amplitude of the seed perturbation of the velocity along y"});
    schema.add("problem.mode", mode_,
               {.meaning = "Number of wavelengths of the seed perturbation along x", .min = 1});
  }

  void prepare(const Setting& setting) override {
    lower_ = setting.geometry.lower();
    for (int axis = 0; axis < 3; ++axis)
      length_[axis] = setting.geometry.upper()[axis] - lower_[axis];
  }

  GasState initial_state(const Position& centre, double) const override {
    const double x = (centre[0] - lower_[0]) / length_[0], y = (centre[1] - lower_[1]) / length_[1];
    const double inside = layer(y);
    GasState gas;
    gas.density = outer_density_ + (inner_density_ - outer_density_) * inside;
    gas.velocity[0] = outer_velocity_ + (inner_velocity_ - outer_velocity_) * inside;
    gas.velocity[1] = amplitude_ * std::sin(2.0 * M_PI * mode_ * x);
    gas.pressure = pressure_;
    gas.scalars = {inside};
    return gas;
  }

 private:
  // 0 far outside the layer, 1 far inside, 1/2 at its edges, with continuous slopes (their eq. 1).
  double layer(double y) const {
    const double outward = std::abs(y - 0.5) - 0.25;
    const double half = 0.5 * std::exp(-std::abs(outward) / width_);
    return outward > 0.0 ? half : 1.0 - half;
  }

  double outer_density_ = 1.0, inner_density_ = 2.0;
  double outer_velocity_ = 0.5, inner_velocity_ = -0.5;
  double pressure_ = 2.5, width_ = 0.025, amplitude_ = 0.01;
  int mode_ = 2;

  Position lower_{}, length_{1.0, 1.0, 1.0};
};

}  // namespace

std::unique_ptr<Problem> make_kelvin_helmholtz() { return std::make_unique<KelvinHelmholtz>(); }

}  // namespace octant::problems
