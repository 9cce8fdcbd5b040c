// Plane schedule of host threads, on any number of ranks.
//
// A stage consists of two sweeps over the planes, or three with implicit diffusion. All work on a
// plane is done while it is in cache. All threads sweep together and share the rows of every plane.
#include <algorithm>
#include <memory>
#include <vector>

#include "core/clock.hpp"
#include "core/observer.hpp"
#include "dns/forcing.hpp"
#include "dns/ghosts.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/prediction.hpp"
#include "dns/projection.hpp"
#include "pencil/fft.hpp"

namespace octant::dns {

namespace {

// Returns options with one scratch memory, which the solvers of a stage share.
pencil::PoissonOptions sharing(pencil::PoissonOptions options) {
  options.tridiagonal.memory = std::make_shared<pencil::SolverMemory>();
  options.planes = std::make_shared<pencil::Buffer>();
  return options;
}

pencil::PoissonOptions swept(pencil::PoissonOptions options, pencil::Sweep sweep) {
  options.tridiagonal.sweep = sweep;
  return options;
}

// Costs per cell of the sweeps over planes in a stage, including the work of solvers within the
// sweeps, but not the kernels of solvers after transposes.
struct PlaneCosts {
  KernelCost prediction, diffusion, correction;
};

PlaneCosts plane_costs(const Domain& domain, Diffusion diffusion, int n) {
  constexpr double k_value = 8.0;  // bytes
  constexpr double k_line = 3.0;   // operations per point and sweep along z
  const bool reads_rhs = n > 0, keeps_rhs = n + 1 < k_stages;
  const auto& [nx, ny, nz] = domain.grid.cells;
  const bool whole_along_y = domain.pencils.processes().y == 1;
  // Operations of a solver along all axes in one of its two sweeps.
  const double half_solve =
      pencil::fft_operations(nx) + (whole_along_y ? pencil::fft_operations(ny) + k_line : 0.0);
  // Cost of the prediction: reads velocity and pressure, writes the prediction, and reads and
  // writes right-hand sides.
  PlaneCosts costs;
  costs.prediction = {k_value * (7.0 + 3.0 * (reads_rhs + keeps_rhs)),
                      3.0 * operations_of_prediction(diffusion, reads_rhs)};
  // The divergence of the prediction is written for the pressure solver.
  const KernelCost projection{k_value, k_operations_of_divergence + half_solve};
  if (diffusion == Diffusion::explicit_all) {
    costs.prediction.bytes += projection.bytes;
    costs.prediction.operations += projection.operations;
  } else {
    const double half_diffusion = diffusion == Diffusion::implicit_z ? k_line : half_solve;
    costs.prediction.operations += 3.0 * half_diffusion;
    costs.diffusion = {k_value * 6.0 + projection.bytes,
                       3.0 * half_diffusion + projection.operations};
  }
  // Cost of the correction: reads phi; reads and writes velocity and pressure.
  costs.correction = {k_value * 9.0, half_solve + operations_of_correction(diffusion)};
  return costs;
}

void record_sweeps(const Domain& domain, Diffusion diffusion, int n) {
  const std::int64_t cells = std::int64_t{domain.nx} * domain.ny * domain.nz;
  const PlaneCosts costs = plane_costs(domain, diffusion, n);
  record_kernel_work("dns: prediction", cells, costs.prediction);
  if (diffusion != Diffusion::explicit_all)
    record_kernel_work("dns: diffusion", cells, costs.diffusion);
  record_kernel_work("dns: correction", cells, costs.correction);
}

class PlaneSchedule final : public Schedule {
 public:
  // Allocates the fields and prepares the solvers. `domain` must outlive the schedule. Collective.
  PlaneSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const pencil::PoissonOptions& solvers, const CommOptions& comm);

  const char* name() const override { return "planes"; }
  State& state() override { return state_; }
  Field& scalar() override { return scalar_->field(); }
  void complete() override;
  void set_force(const ForceFields& force) override { force_ = &force; }
  double advance(int n, const Stage& stage) override;
  FlowMeasures measure() override;

  const StepSeconds& seconds() const override { return seconds_; }
  pencil::PoissonReport poisson_report() const override { return projection_.report(); }
  pencil::PoissonReport diffusion_report() const override;
  std::vector<ExchangeCount> halo_report() const override { return ghosts_.report(); }

 private:
  PlaneSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const CommOptions& comm, const pencil::PoissonOptions& solvers);

  VelocityViews velocity() { return {view_of(state_.u), view_of(state_.v), view_of(state_.w)}; }
  void explicit_stage(int n, const Stage& stage);
  void implicit_stage(int n, const Stage& stage);
  void predict(const Team& team, int k, int n, const Stage& stage);
  void add_backflow(const Team& team, int k);
  void back_substitute(const Team& team, int k);
  // Deferred projection and correction of rows that need data of other ranks.
  void project_deferred(int plane_offset, const Stage& stage);
  void correct_deferred(const Stage& stage);
  CorrectionStep correction(int k, const Stage& stage) const;
  void fill_ghosts();

  // Start and complete the sum over a stage that gives the forcing velocity for the prescribed
  // mean.
  void start_bulk_velocity(const Stage& stage);
  void end_mean();

  // Adds the time since the last call to `part`, on the first thread only.
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
  std::unique_ptr<ImplicitDiffusion> implicit_;  // null if all diffusion is explicit
  std::unique_ptr<Scalar<Place::host>> scalar_;
  const ForceFields* force_ = nullptr;
  FlowMeter<Place::host> meter_;
  std::vector<ReproducibleSum> mean_;  // sums of the forced component, by thread
  double forcing_velocity_ = 0.0;      // velocity added by the forcing in the present stage
  Clock clock_;
  StepSeconds seconds_;
};

PlaneSchedule::PlaneSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const pencil::PoissonOptions& solvers,
                             const CommOptions& comm)
    : PlaneSchedule(domain, parameters, scalar, comm, sharing(solvers)) {}

PlaneSchedule::PlaneSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const CommOptions& comm,
                             const pencil::PoissonOptions& solvers)
    : domain_(domain),
      parameters_(parameters),
      diffusion_(parameters.diffusion),
      forcing_(parameters.forcing),
      forced_(index_of(parameters.forcing_axis)),
      state_(domain),
      outflow_(domain, parameters.viscosity),
      ghosts_(domain, {comm, solvers.transpose == pencil::TransposeBackend::shared}, outflow_,
              scalar.enabled ? scalar.sides(domain.boundaries) : ScalarSides{}),
      momentum_(domain, parameters.viscosity, diffusion_, body_force(parameters)),
      projection_(domain, ghosts_, swept(solvers, pressure_sweep(diffusion_)), diffusion_),
      meter_(domain),
      mean_(pencil::team_size()) {
  const pencil::PoissonOptions upwards = swept(solvers, pencil::Sweep::up);
  implicit_ = make_implicit_diffusion(domain, state_, outflow_, diffusion_,
                                      prescribed_mean_component(parameters), upwards);
  if (scalar.enabled)
    scalar_ = std::make_unique<Scalar<Place::host>>(domain, scalar, diffusion_, upwards);
}

void PlaneSchedule::complete() {
  const Ghosted all[] = {
      {&state_.u, k_u}, {&state_.v, k_v}, {&state_.w, k_w}, {&state_.p, k_pressure}};
  ghosts_.fill(all);
  if (!scalar_) return;
  ghosts_.fill(scalar_->field(), k_scalar);
}

void PlaneSchedule::fill_ghosts() {
  const Ghosted all[] = {
      {&state_.u, k_u}, {&state_.v, k_v}, {&state_.w, k_w}, {&state_.p, k_pressure}};
  ghosts_.fill_y_and_z(all);
}

double PlaneSchedule::advance(int n, const Stage& stage) {
  record_sweeps(domain_, diffusion_, n);
  clock_.restart();
  if (scalar_) scalar_->advance(velocity(), ghosts_, stage);
  lap(seconds_.scalar, "scalar");
  outflow_.predict(velocity(), view_of(state_.p), stage);
  start_bulk_velocity(stage);
  if (implicit_) implicit_stage(n, stage);
  else explicit_stage(n, stage);
  fill_ghosts();
  lap(seconds_.ghosts, "ghosts");
  return forcing_velocity_;
}

FlowMeasures PlaneSchedule::measure() {
  return meter_.measure(velocity(), scalar_ ? scalar_->view() : FieldView{});
}

void PlaneSchedule::explicit_stage(int n, const Stage& stage) {
  const int nz = domain_.nz;
  pencil::in_team("dns: prediction", [&](const Team& team) {
    for (int k = 0; k < nz; ++k) {
      predict(team, k, n, stage);
      lap(team, seconds_.momentum, "momentum");
      projection_.forward(team, state_, k, -1, stage.gamma);
      lap(team, seconds_.poisson, "poisson");
    }
  });
  project_deferred(-1, stage);
  end_mean();
  lap(seconds_.momentum, "momentum");
  pencil::in_team("dns: correction", [&](const Team& team) {
    for (int k = nz - 1; k >= 0; --k) {
      projection_.backward(team, k);
      lap(team, seconds_.poisson, "poisson");
      projection_.correct(team, state_, k, -1, correction(k, stage));
      lap(team, seconds_.correction, "correction");
    }
  });
  correct_deferred(stage);
}

void PlaneSchedule::implicit_stage(int n, const Stage& stage) {
  const int nz = domain_.nz;
  implicit_->set_factor(stage.implicit * parameters_.viscosity * stage.gamma);
  pencil::in_team("dns: prediction", [&](const Team& team) {
    for (int k = 0; k < nz; ++k) {
      predict(team, k, n, stage);
      lap(team, seconds_.momentum, "momentum");
      implicit_->eliminate(team, state_, k);
      team.barrier();
      lap(team, seconds_.diffusion, "diffusion");
    }
  });
  end_mean();
  lap(seconds_.momentum, "momentum");
  implicit_->exchange(state_, forcing_velocity_);
  pencil::in_team("dns: diffusion", [&](const Team& team) {
    implicit_->back_substitute(team, state_, k_w, nz - 1);
    for (int k = nz - 1; k >= 0; --k) {
      back_substitute(team, k);
      lap(team, seconds_.diffusion, "diffusion");
      projection_.forward(team, state_, k, 0, stage.gamma);
      lap(team, seconds_.poisson, "poisson");
    }
  });
  project_deferred(0, stage);
  pencil::in_team("dns: correction", [&](const Team& team) {
    for (int k = 0; k < nz; ++k) {
      projection_.backward(team, k);
      lap(team, seconds_.poisson, "poisson");
      if (k > 0) projection_.correct(team, state_, k - 1, 0, correction(k - 1, stage));
      lap(team, seconds_.correction, "correction");
    }
    projection_.correct(team, state_, nz - 1, 0, correction(nz - 1, stage));
    lap(team, seconds_.correction, "correction");
  });
  correct_deferred(stage);
}

// Performs the back substitution of u and v in plane k and of w in plane k - 1, because the
// divergence in plane k needs w on the face below. Called with decreasing k.
void PlaneSchedule::back_substitute(const Team& team, int k) {
  implicit_->back_substitute(team, state_, k_u, k);
  implicit_->back_substitute(team, state_, k_v, k);
  if (k > 0) implicit_->back_substitute(team, state_, k_w, k - 1);
}

void PlaneSchedule::project_deferred(int plane_offset, const Stage& stage) {
  ghosts_.exchange_prediction(state_, plane_offset);
  lap(seconds_.ghosts, "ghosts");
  projection_.forward_deferred(state_, plane_offset, stage.gamma);
  projection_.exchange();
  lap(seconds_.poisson, "poisson");
}

void PlaneSchedule::correct_deferred(const Stage& stage) {
  projection_.fill_ghosts(ghosts_);
  lap(seconds_.ghosts, "ghosts");
  pencil::in_team("dns: deferred correction", [&](const Team& team) {
    const std::vector<Projection::RowTask>& deferred = projection_.deferred_corrections();
    const Range own = team.share(static_cast<int>(deferred.size()));
    for (int n = own.begin; n < own.end; ++n)
      projection_.correct(state_, deferred[n], 0, correction(deferred[n].k, stage));
  });
  lap(seconds_.correction, "correction");
}

CorrectionStep PlaneSchedule::correction(int k, const Stage& stage) const {
  if (forcing_ != Forcing::bulk_velocity) return correction_step(parameters_, stage, 0.0);
  const double forcing = implicit_ ? forcing_velocity_ * implicit_->response(k) : forcing_velocity_;
  return correction_step(parameters_, stage, forcing);
}

void PlaneSchedule::start_bulk_velocity(const Stage& stage) {
  std::fill(mean_.begin(), mean_.end(), ReproducibleSum());
  forcing_velocity_ = 0.0;
  if (forcing_ != Forcing::bulk_velocity || diffusion_ == Diffusion::explicit_all) return;
  const Field& forced = state_.velocity(forced_);
  add_wall_friction(
      domain_, diffusion_ == Diffusion::implicit_all,
      (1.0 - stage.implicit) * parameters_.viscosity * stage.gamma,
      [&](int k, int j) { return row_sum(forced.row(k, j), domain_.nx); }, mean_.front());
}

void PlaneSchedule::predict(const Team& team, int k, int n, const Stage& stage) {
  momentum_.plane(team, state_, k, n, stage);
  add_backflow(team, k);
  if (scalar_) scalar_->add_source(team, one_plane_lower(view_of(state_.w)), k, stage);
  if (force_ != nullptr) force_->add_force(team, state_, k, stage);
  if (forcing_ == Forcing::bulk_velocity)
    momentum_.add_to_mean(team, state_, k, forced_, mean_[team.rank()]);
}

// Adds the source terms of the outflow condition to the tangential components in adjacent cells of
// plane k, at plane offset -1.
void PlaneSchedule::add_backflow(const Team& team, int k) {
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end)
      for (int c = 0; c < k_components; ++c) {
        const FieldView& added = outflow_.added(axis, end, c);
        if (!added.first || k >= domain_.unknowns(c, 2)) continue;
        const Range beside = cells_beside(domain_, axis, end);
        if (axis == 2 && !beside.contains(k)) continue;
        Range rows = pencil::intersection(team.share(domain_.ny), {0, domain_.unknowns(c, 1)});
        if (axis == 1) rows = pencil::intersection(rows, beside);
        const int cells = axis == 0 ? 1 : domain_.unknowns(c, 0);
        for (int j = rows.begin; j < rows.end; ++j) {
          const double* from = added.row(axis == 2 ? 0 : k, axis == 1 ? 0 : j);
          double* to = state_.velocity(c).row(k, j, -1) + (axis == 0 ? beside.begin : 0);
          for (int i = 0; i < cells; ++i) to[i] += from[i];
        }
      }
}

void PlaneSchedule::end_mean() {
  if (forcing_ != Forcing::bulk_velocity) return;
  ReproducibleSum& sum = mean_.front();
  for (std::size_t thread = 1; thread < mean_.size(); ++thread) sum += mean_[thread];
  forcing_velocity_ = missing_velocity(domain_, parameters_, sum);
}

pencil::PoissonReport PlaneSchedule::diffusion_report() const {
  return implicit_ ? implicit_->report() : pencil::PoissonReport();
}

}  // namespace

std::unique_ptr<Schedule> make_plane_schedule(const Domain& domain,
                                              const FlowParameters& parameters,
                                              const ScalarOptions& scalar,
                                              const pencil::PoissonOptions& solvers,
                                              const CommOptions& comm) {
  return std::make_unique<PlaneSchedule>(domain, parameters, scalar, solvers, comm);
}

}  // namespace octant::dns
