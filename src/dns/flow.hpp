// Incompressible flow: velocity and pressure on this rank's pencil, advanced in time.
//
//   Wray's three-stage Runge-Kutta scheme with incremental pressure correction and symmetry-
//   preserving second-order differences; see Diez Sanhueza, Peeters & Costa, Comput. Phys. Commun.
//   316 (2025) 109811, eq. 3-11.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "core/observer.hpp"
#include "dns/domain.hpp"
#include "dns/ghosts.hpp"
#include "dns/implicit_diffusion.hpp"
#include "dns/momentum_sweep.hpp"
#include "dns/projection.hpp"
#include "dns/scalar.hpp"

namespace octant::dns {

// Seconds that this rank spent in the parts of its steps.
struct StepSeconds {
  double momentum = 0, diffusion = 0, poisson = 0, correction = 0, ghosts = 0, scalar = 0;
};

class Flow {
 public:
  // Collective. `domain` must outlive the flow.
  Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
       const pencil::PoissonOptions& solvers, const CommOptions& comm);

  // The state; after writing to its cells, call complete(), which fills the ghosts.
  State& state() { return state_; }
  const State& state() const { return state_; }
  void complete();
  // Null if the flow carries none.
  Scalar* scalar() { return scalar_.get(); }
  const Scalar* scalar() const { return scalar_.get(); }

  // One time step. Collective.
  void step(double dt);

  // What the forcing of the last step amounts to: the mean force per mass along its axis.
  double mean_force() const { return mean_force_; }
  void set_mean_force(double force) { mean_force_ = force; }  // for restart

  const Domain& domain() const { return domain_; }
  const FlowParameters& parameters() const { return parameters_; }
  const StepSeconds& seconds() const { return seconds_; }
  pencil::PoissonReport poisson_report() const { return projection_.report(); }
  pencil::PoissonReport diffusion_report() const;
  std::vector<ExchangeCount> halo_report() const { return ghosts_.report(); }

 private:
  Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
       const CommOptions& comm, const pencil::PoissonOptions& solvers);

  // A stage in two sweeps, or three where diffusion is implicit, over the planes: everything that a
  // plane needs follows while it is in cache, on any process grid. All threads sweep together, each
  // on its rows of every plane.
  void explicit_stage(int n, const Stage& stage);
  void implicit_stage(int n, const Stage& stage);
  void predict(const Team& team, int k, int n, const Stage& stage);
  void settle(const Team& team, int k);
  // The predicted plane's boundary faces, and its divergence to the solver.
  void project(const Team& team, int k, int slide, const Stage& stage);
  // What could not be projected, or corrected, without other ranks' planes.
  void project_late(int slide, const Stage& stage);
  void correct_late(const Stage& stage);
  Projection::Step correction(int k, const Stage& stage) const;
  void fill_ghosts();

  // The forcing that gives the predicted velocity its mean, from the sums of a stage.
  void begin_mean(const Stage& stage);
  void end_mean();
  void add_wall_friction(double factor);

  // Books the time since the last lap, of the first thread alone.
  void lap(double& part, const char* name) { lap(Team(), part, name); }
  void lap(const Team& team, double& part, const char* name) {
    team.lap(clock_, part);
    if (team.is_first()) observe_lap(Phase::compute, name);
  }

  const Domain& domain_;
  FlowParameters parameters_;
  Diffusion diffusion_;
  Forcing forcing_;
  int forced_;
  State state_;
  Ghosts ghosts_;
  MomentumSweep momentum_;
  Projection projection_;
  std::unique_ptr<ImplicitDiffusion> implicit_;  // null if all is explicit
  std::unique_ptr<Scalar> scalar_;
  std::vector<ReproducibleSum> mean_;  // by thread
  double push_ = 0.0;                  // forcing of the present stage, as a velocity
  double mean_force_ = 0.0;
  Clock clock_;
  StepSeconds seconds_;
};

}  // namespace octant::dns
