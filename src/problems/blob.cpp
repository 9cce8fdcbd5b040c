// A dense ball that drifts through a periodic domain in pressure equilibrium, so that nothing
// should happen to it but its motion. Two scalars travel along: one marks the ball, the other is a
// smooth hill.
#include <cmath>

#include "core/parameters.hpp"
#include "problems/factories.hpp"

namespace octant::problems {

namespace {

class Blob final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.density", density_,
               {.unit = "density", .meaning = "Ambient density", .above = 0.0});
    schema.add("problem.contrast", contrast_,
               {.meaning = "Density contrast of the ball to the ambient gas", .above = 0.0});
    schema.add("problem.pressure", pressure_,
               {.unit = "pressure", .meaning = "Uniform gas pressure", .above = 0.0});
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Uniform gas velocity"});
    schema.add("problem.centre", centre_,
               {.unit = "length", .meaning = "Initial centre of the ball"});
    schema.add("problem.radius", radius_,
               {.unit = "length", .meaning = "Radius of the ball", .above = 0.0});
    schema.add("problem.width", width_,
               {.unit = "length", .meaning = "Width of the smooth edge of the ball", .above = 0.0});
  }

  void prepare(const Setting& setting) override {
    for (int axis = 0; axis < 3; ++axis)
      period_[axis] = setting.geometry.periodic(axis)
                          ? setting.geometry.upper()[axis] - setting.geometry.lower()[axis]
                          : 0.0;
  }

  GasState initial_state(const Position& centre, double) const override {
    const double r = distance(centre);
    const double ball = 0.5 * (1.0 - std::tanh((r - radius_) / width_));
    const double hill = std::exp(-(r * r) / (radius_ * radius_));
    GasState gas;
    gas.density = density_ * (1.0 + (contrast_ - 1.0) * ball);
    gas.velocity = velocity_;
    gas.pressure = pressure_;
    gas.scalars = {ball, hill};
    return gas;
  }

 private:
  // To the nearest periodic image of the centre.
  double distance(const Position& position) const {
    double squared = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      double offset = position[axis] - centre_[axis];
      if (period_[axis] > 0.0) offset -= period_[axis] * std::round(offset / period_[axis]);
      squared += offset * offset;
    }
    return std::sqrt(squared);
  }

  double density_ = 1.0, contrast_ = 10.0, pressure_ = 1.0;
  std::array<double, 3> velocity_{1.0, 0.5, 0.25};
  Position centre_{0.5, 0.5, 0.5};
  double radius_ = 0.2, width_ = 0.02;

  Position period_{};
};

}  // namespace

std::unique_ptr<Problem> make_blob() { return std::make_unique<Blob>(); }

}  // namespace octant::problems
