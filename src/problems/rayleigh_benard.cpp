// Convection between two plates along z at different temperatures (Rayleigh & Benard): a fluid at
// rest that conducts heat from one to the other, with random disturbances of its temperature. The
// scalar is the temperature. With the height H and the difference D the Rayleigh number is
// scalar.buoyancy D H^3 / (viscosity diffusivity); above 1708 the fluid turns over.
#include "core/parameters.hpp"
#include "core/random.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class RayleighBenard final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.lower", lower_, {.meaning = "Initial temperature at the lower plate"});
    schema.add("problem.upper", upper_, {.meaning = "Initial temperature at the upper plate"});
    schema.add("problem.noise", noise_,
               {.meaning = "Amplitude of the initial temperature perturbations", .min = 0.0});
    schema.add("problem.seed", seed_, {.meaning = "Seed of the initial perturbations", .min = 0});
  }

  void prepare(const FlowSetting& setting) override { height_ = setting.grid.size[2]; }

  double velocity(int, const Place&) const override { return 0.0; }

  double scalar(const Place& place) const override {
    const double s = place.position[2] / height_;
    const double random = 2.0 * RandomStream(seed_, place.cell, 0).uniform(0) - 1.0;
    return lower_ + s * (upper_ - lower_) + noise_ * 4.0 * s * (1.0 - s) * random;
  }

 private:
  double lower_ = 0.5, upper_ = -0.5, noise_ = 0.01, height_ = 1.0;
  std::int64_t seed_ = 1;
};

}  // namespace

std::unique_ptr<FlowProblem> make_rayleigh_benard() { return std::make_unique<RayleighBenard>(); }

}  // namespace octant::problems
