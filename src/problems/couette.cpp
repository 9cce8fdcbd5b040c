// Flow between walls along z that slide past each other: the linear profile between the velocities
// of the two sides, with random disturbances.
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class Couette final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add(
        "problem.noise", noise_,
        {.unit = "velocity", .meaning = "Amplitude of the initial random velocities", .min = 0.0});
    schema.add("problem.at_rest", at_rest_,
               {.meaning = "Initial state at rest instead of the linear profile"});
    schema.add("problem.seed", seed_, {.meaning = "Seed of the random velocities", .min = 0});
  }

  void prepare(const FlowSetting& setting) override {
    height_ = setting.grid.size[2];
    lower_ = setting.boundaries.velocity(2, 0);
    upper_ = setting.boundaries.velocity(2, 1);
  }

  double velocity(int component, const Place& place) const override {
    const double s = place.position[2] / height_;
    const double profile =
        at_rest_ ? 0.0 : lower_[component] + s * (upper_[component] - lower_[component]);
    const RandomStream random(seed_, place.cell, static_cast<std::uint32_t>(component));
    return profile + noise_ * 4.0 * s * (1.0 - s) * (2.0 * random.uniform(0) - 1.0);
  }

 private:
  double noise_ = 0.0, height_ = 1.0;
  bool at_rest_ = false;
  std::int64_t seed_ = 1;
  std::array<double, 3> lower_{}, upper_{};
};

}  // namespace

std::unique_ptr<FlowProblem> make_couette() { return std::make_unique<Couette>(); }

}  // namespace octant::problems
