// The schedule of host threads, on any number of ranks: planes in cache.
//
// A stage is two sweeps, or three where diffusion is implicit, over the planes: everything that a
// plane needs follows while it is in cache. All threads sweep together, each on its rows of every
// plane.
#pragma once

#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "core/observer.hpp"
#include "dns/ghosts.hpp"
#include "dns/implicit_diffusion.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/momentum_sweep.hpp"
#include "dns/projection.hpp"

namespace octant::dns {

class PlaneSchedule final : public Schedule {
 public:
  // Collective. `domain` must outlive the schedule.
  PlaneSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const pencil::PoissonOptions& solvers, const CommOptions& comm);

  const char* name() const override { return "planes"; }
  State& state() override { return state_; }
  Field& scalar() override { return scalar_->field(); }
  void complete() override;
  void set_force(const ForceFields& force) override { force_ = &force; }
  double advance(int n, const Stage& stage) override;
  FlowFigures measure() override;

  const StepSeconds& seconds() const override { return seconds_; }
  pencil::PoissonReport poisson_report() const override { return projection_.report(); }
  pencil::PoissonReport diffusion_report() const override;
  std::vector<ExchangeCount> halo_report() const override { return ghosts_.report(); }

 private:
  PlaneSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const CommOptions& comm, const pencil::PoissonOptions& solvers);

  void explicit_stage(int n, const Stage& stage);
  void implicit_stage(int n, const Stage& stage);
  void predict(const Team& team, int k, int n, const Stage& stage);
  void add_backflow(const Team& team, int k);
  void settle(const Team& team, int k);
  // What could not be projected, or corrected, without other ranks' planes.
  void project_late(int slide, const Stage& stage);
  void correct_late(const Stage& stage);
  CorrectionStep correction(int k, const Stage& stage) const;
  void fill_ghosts();

  // The push that gives the predicted velocity its mean, from the sums of a stage.
  void begin_mean(const Stage& stage);
  void end_mean();

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
  Outflow<Place::host> outflow_;
  Ghosts ghosts_;
  MomentumSweep momentum_;
  Projection projection_;
  std::unique_ptr<ImplicitDiffusion> implicit_;  // null if all is explicit
  std::unique_ptr<Scalar> scalar_;
  const ForceFields* force_ = nullptr;
  FlowMeter<Place::host> meter_;
  std::vector<ReproducibleSum> mean_;  // by thread
  double push_ = 0.0;                  // forcing of the present stage, as a velocity
  Clock clock_;
  StepSeconds seconds_;
};

}  // namespace octant::dns
