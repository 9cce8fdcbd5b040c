// The schedule of a GPU: batches of all planes at once, in the memory of Kokkos' default execution
// space, which on a build without a GPU is the host's.
//
// Inside a step no field travels to the host or from there, but numbers of planes, and of rows at
// walls where a mean is kept; and between ranks, what kernels have packed.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock.hpp"
#include "dns/batch_steps.hpp"
#include "dns/incompressible_flow.hpp"

namespace octant::dns {

class BatchSchedule final : public Schedule {
 public:
  // `domain` must outlive the schedule. Collective.
  BatchSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const pencil::PoissonOptions& solvers, const CommOptions& comm);

  const char* name() const override { return "batches"; }
  State& state() override;
  Field& scalar() override;
  void complete() override;
  void set_force(const ForceFields& force) override;
  double advance(int n, const Stage& stage) override;
  FlowFigures measure() override;

  const StepSeconds& seconds() const override { return seconds_; }
  pencil::PoissonReport poisson_report() const override { return projection_.report(); }
  pencil::PoissonReport diffusion_report() const override;
  std::vector<ExchangeCount> halo_report() const override { return ghosts_.report(); }

 private:
  BatchSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const CommOptions& comm, const pencil::BatchedOptions& solvers);

  // A velocity and where kernels find it.
  struct Velocity {
    DeviceField u, v, w;
    explicit Velocity(const pencil::Box& box) : u(box), v(box), w(box) {}
    VelocityViews views() const { return {u.view(), v.view(), w.view()}; }
  };

  void fill_ghosts();
  void add_backflow(const VelocityViews& predicted) const;
  // The push that gives the predicted velocity its mean.
  double missing(const Stage& stage);
  CorrectionStep correction(int k, const Stage& stage, double push) const;
  void push(const Stage& stage, const VelocityViews& predicted) const;
  void fetch();
  void lap(double& part, const char* name);

  const Domain& domain_;
  FlowParameters parameters_;
  Diffusion diffusion_;
  State host_;
  std::optional<Field> host_scalar_;
  bool host_is_current_ = true;

  Outflow<Place::device> outflow_;
  BatchGhosts ghosts_;
  Velocity velocity_, predicted_;
  DeviceField pressure_;
  BatchMomentum momentum_;
  BatchProjection projection_;
  std::optional<BatchDiffusion> implicit_;  // none if all is explicit
  std::unique_ptr<BatchScalar> scalar_;     // points to its own fields
  // The body force along each axis, where there is one.
  std::array<std::optional<DeviceField>, k_components> force_;
  FlowMeter<Place::device> meter_;
  Clock clock_;
  StepSeconds seconds_;
};

}  // namespace octant::dns
