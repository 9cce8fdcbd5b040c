#include "dns/incompressible_flow.hpp"

#include <algorithm>

#include "dns/batch_schedule.hpp"
#include "dns/plane_schedule.hpp"

namespace octant::dns {

bool in_batches(const FlowParameters& parameters) {
  if (!parameters.schedule) return !k_is_host<DeviceSpace>;
  return parameters.schedule == ScheduleKind::batches;
}

Flow::Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
           const pencil::PoissonOptions& solvers, const CommOptions& comm, const BodyForce* force)
    : domain_(domain), parameters_(parameters), scalar_(scalar) {
  if (in_batches(parameters))
    schedule_ = std::make_unique<BatchSchedule>(domain, parameters, scalar, solvers, comm);
  else schedule_ = std::make_unique<PlaneSchedule>(domain, parameters, scalar, solvers, comm);
  if (force == nullptr) return;
  force_ = std::make_unique<ForceFields>(domain, *force);
  push_from(0.0);
}

void Flow::set_time(double time) {
  time_ = time;
  push_from(time);
}

void Flow::push_from(double time) {
  if (force_ && force_->set_time(time)) schedule_->set_force(*force_);
}

// The body force of a stage is that in the middle of it. Afterwards it is that of the time that the
// next step begins at, by which its length is found, as after a restart.
void Flow::step(double dt) {
  mean_force_ = 0.0;
  double begin = 0.0;
  for (int n = 0; n < k_stages; ++n) {
    Stage stage = runge_kutta_stage(n, dt);
    if (damped_steps_ > 0) stage.implicit = 1.0;
    push_from(time_ + begin + 0.5 * stage.gamma);
    mean_force_ += schedule_->advance(n, stage) / dt;
    begin += stage.gamma;
  }
  damped_steps_ = std::max(0, damped_steps_ - 1);
  if (parameters_.forcing == Forcing::pressure_gradient)
    mean_force_ = parameters_.pressure_gradient;
  set_time(time_ + dt);
}

}  // namespace octant::dns
