// Incompressible flow: velocity and pressure on this rank's pencil, advanced in time.
//
//   Wray's three-stage Runge-Kutta scheme with incremental pressure correction and symmetry-
//   preserving second-order differences; see Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun.
//   316 (2025) 109811, eq. 3-11.
#pragma once

#include <memory>
#include <vector>

#include "dns/body_force.hpp"
#include "dns/domain.hpp"
#include "dns/flow_meter.hpp"
#include "dns/kernels.hpp"
#include "dns/scalar.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Seconds that this rank spent in the parts of its steps.
struct StepSeconds {
  double momentum = 0, diffusion = 0, poisson = 0, correction = 0, ghosts = 0, scalar = 0;
};

// How the work of a time step is ordered: what schedules have in common. The kernels' bodies, and
// on a host the bits of what they make, are the same in all of them.
class Schedule {
 public:
  virtual ~Schedule() = default;

  virtual const char* name() const = 0;  // as dns.schedule has it

  // The state, and the scalar that it carries if any, in the host's memory, with their ghosts.
  // After writing to their cells, call complete() before the next stage; it is collective.
  virtual State& state() = 0;
  virtual Field& scalar() = 0;
  virtual void complete() = 0;

  // What pushes the stages from now on, until this is called again. It must stay where it is.
  virtual void set_force(const ForceFields& force) = 0;

  // Stage n of a Runge-Kutta step, whose coefficients are `stage`. Returns the velocity that was
  // added to keep the mean (dns.forcing = "bulk_velocity"), else 0. Collective.
  virtual double advance(int n, const Stage& stage) = 0;

  // Sums and extremes of the present state on this rank.
  virtual FlowFigures measure() = 0;

  virtual const StepSeconds& seconds() const = 0;
  virtual pencil::PoissonReport poisson_report() const = 0;
  virtual pencil::PoissonReport diffusion_report() const = 0;
  virtual std::vector<ExchangeCount> halo_report() const = 0;
};

// Whether a flow goes in batches, of which dns.schedule = "auto" makes use where there is a GPU.
bool in_batches(const FlowParameters& parameters);

class Flow {
 public:
  // Collective. `domain` and the force, which may be null, must outlive the flow.
  Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
       const pencil::PoissonOptions& solvers, const CommOptions& comm,
       const BodyForce* force = nullptr);

  // The state in the host's memory, fetched where steps have left it elsewhere. After writing to
  // its cells, or the scalar's, call complete(), which fills the ghosts.
  State& state() { return schedule_->state(); }
  const State& state() const { return schedule_->state(); }
  void complete() { schedule_->complete(); }
  bool has_scalar() const { return scalar_.enabled; }
  Field& scalar() { return schedule_->scalar(); }  // where there is one
  const Field& scalar() const { return schedule_->scalar(); }

  // The time that the next step begins at, 0 if nothing is said: the body force may depend on it.
  // Collective.
  void set_time(double time);
  // One time step. Collective.
  void step(double dt);

  // The steps to come whose implicit diffusion is backward Euler's, with each stage as a step of
  // its own: they damp what Crank and Nicolson's scheme would let ring for hundreds of steps.
  int damped_steps() const { return damped_steps_; }
  void set_damped_steps(int steps) { damped_steps_ = steps; }

  // What the forcing of the last step amounts to: the mean force per mass along its axis.
  double mean_force() const { return mean_force_; }
  void set_mean_force(double force) { mean_force_ = force; }  // for restart

  // The largest absolute values of the body force on this rank, when the next step begins.
  Vector largest_force() const { return force_ ? force_->largest() : Vector{}; }
  // Sums and extremes of the state on this rank.
  FlowFigures measure() const { return schedule_->measure(); }

  const char* schedule() const { return schedule_->name(); }
  const Domain& domain() const { return domain_; }
  const FlowParameters& parameters() const { return parameters_; }
  const ScalarOptions& scalar_options() const { return scalar_; }
  const StepSeconds& seconds() const { return schedule_->seconds(); }
  pencil::PoissonReport poisson_report() const { return schedule_->poisson_report(); }
  pencil::PoissonReport diffusion_report() const { return schedule_->diffusion_report(); }
  std::vector<ExchangeCount> halo_report() const { return schedule_->halo_report(); }

 private:
  void push_from(double time);

  const Domain& domain_;
  FlowParameters parameters_;
  ScalarOptions scalar_;
  std::unique_ptr<Schedule> schedule_;
  std::unique_ptr<ForceFields> force_;  // null if there is none
  double time_ = 0.0, mean_force_ = 0.0;
  int damped_steps_ = 0;
};

}  // namespace octant::dns
