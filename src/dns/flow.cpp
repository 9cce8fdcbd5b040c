#include "dns/flow.hpp"

#include "dns/plane_schedule.hpp"

namespace octant::dns {

Flow::Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
           const pencil::PoissonOptions& solvers, const CommOptions& comm)
    : domain_(domain),
      parameters_(parameters),
      scalar_(scalar),
      schedule_(std::make_unique<PlaneSchedule>(domain, parameters, scalar, solvers, comm)) {}

void Flow::step(double dt) {
  mean_force_ = 0.0;
  for (int n = 0; n < k_stages; ++n)
    mean_force_ += schedule_->advance(n, runge_kutta_stage(n, dt)) / dt;
  if (parameters_.forcing_kind() == Forcing::pressure_gradient)
    mean_force_ = parameters_.pressure_gradient;
}

}  // namespace octant::dns
