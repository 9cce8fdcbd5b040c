// Incompressible flow: velocity and pressure on this rank's pencil, advanced in time.
//
//   Wray's three-stage Runge-Kutta scheme with incremental pressure correction and symmetry-
//   preserving second-order differences; see Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun.
//   316 (2025) 109811, eq. 3-11.
#pragma once

#include <memory>
#include <vector>

#include "dns/schedule.hpp"

namespace octant::dns {

class Flow {
 public:
  // Collective. `domain` must outlive the flow. Throws InputError if dns.schedule asks for batches
  // on several ranks.
  Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
       const pencil::PoissonOptions& solvers, const CommOptions& comm);

  // The state in the host's memory, fetched where steps have left it elsewhere. After writing to
  // its cells, or the scalar's, call complete(), which fills the ghosts.
  State& state() { return schedule_->state(); }
  const State& state() const { return schedule_->state(); }
  void complete() { schedule_->complete(); }
  bool has_scalar() const { return scalar_.enabled; }
  Field& scalar() { return schedule_->scalar(); }  // where there is one
  const Field& scalar() const { return schedule_->scalar(); }

  // One time step. Collective.
  void step(double dt);

  // What the forcing of the last step amounts to: the mean force per mass along its axis.
  double mean_force() const { return mean_force_; }
  void set_mean_force(double force) { mean_force_ = force; }  // for restart

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
  const Domain& domain_;
  FlowParameters parameters_;
  ScalarOptions scalar_;
  std::unique_ptr<Schedule> schedule_;
  double mean_force_ = 0.0;
};

}  // namespace octant::dns
