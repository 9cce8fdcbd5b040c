// Worked example of a problem (docs/extending.md): a wave of density in gas of uniform pressure and
// velocity, which carries it along unchanged.
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "problems/problem.hpp"

namespace octant::problems {

namespace {

class DensityWave final : public Problem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.amplitude", amplitude_,
               {.meaning = "Relative density amplitude; the mean density is 1", .above = 0.0});
    schema.add("problem.speed", speed_,
               {.unit = "velocity", .meaning = "Gas velocity along x; the gas pressure is 1"});
  }

  void prepare(const ProblemSetup& setup) override {
    if (amplitude_ >= 1.0)
      throw InputError(
          "problem.amplitude = {}: the density would be negative; expected less than 1",
          amplitude_);
    lower_ = setup.geometry.lower()[0];
    length_ = setup.geometry.upper()[0] - lower_;
  }

  GasState initial_state(const Position& centre, double) const override {
    const double phase = 2.0 * std::numbers::pi * (centre[0] - lower_) / length_;
    return {.density = 1.0 + amplitude_ * std::sin(phase), .velocity = {speed_, 0.0, 0.0}};
  }

 private:
  double amplitude_ = 0.1, speed_ = 1.0;
  double lower_ = 0.0, length_ = 1.0;
};

}  // namespace

std::unique_ptr<Problem> make_density_wave() { return std::make_unique<DensityWave>(); }

}  // namespace octant::problems
