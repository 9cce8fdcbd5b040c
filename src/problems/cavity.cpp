// A fluid at rest, which its boundaries set in motion: a cavity whose lid slides, or whatever else
// dns.boundary_* and dns.velocity_* describe.
#include "core/parameters.hpp"
#include "problems/flow_factories.hpp"

namespace octant::problems {

namespace {

class Cavity final : public FlowProblem {
 public:
  void declare(ParameterSchema& schema) override {
    schema.add("problem.velocity", velocity_,
               {.unit = "velocity", .meaning = "Initial velocity of the fluid"});
  }
  double velocity(int component, const Place&) const override { return velocity_[component]; }

 private:
  std::array<double, 3> velocity_{};
};

}  // namespace

std::unique_ptr<FlowProblem> make_cavity() { return std::make_unique<Cavity>(); }

}  // namespace octant::problems
