// Batch schedule: all planes at once, in the memory of Kokkos' default execution space, which is
// host memory in a build without a GPU.
//
// Within a step no field is copied between device and host, but only numbers per plane, and per row
// if a mean velocity is prescribed between walls. Kernels pack the messages between ranks.
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"
#include "dns/batch_steps.hpp"
#include "dns/forcing.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/scalar.hpp"

namespace octant::dns {

namespace {

struct PushRows {
  FieldView force, velocity;
  double gamma;
  KOKKOS_FUNCTION ForcePush operator()(int k, int j) const {
    return {force.row(k, j), gamma, velocity.row(k, j)};
  }
};

// Returns options with one scratch memory, which the solvers of a stage share.
pencil::BatchedOptions solvers_of_batches(const pencil::PoissonOptions& solvers,
                                          const CommOptions& comm) {
  return {.method = solvers.tridiagonal.method,
          .comm = pencil::options_of_batches(solvers.transpose, comm),
          .memory = std::make_shared<pencil::BatchedMemory>()};
}

pencil::BatchedOptions swept(pencil::BatchedOptions options, pencil::Sweep sweep) {
  options.sweep = sweep;
  return options;
}

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
  FlowMeasures measure() override;

  const StepSeconds& seconds() const override { return seconds_; }
  pencil::PoissonReport poisson_report() const override { return projection_.report(); }
  pencil::PoissonReport diffusion_report() const override;
  std::vector<ExchangeCount> halo_report() const override { return ghosts_.report(); }

 private:
  BatchSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const CommOptions& comm, const pencil::BatchedOptions& solvers);

  // A velocity in device memory.
  struct Velocity {
    DeviceField u, v, w;
    explicit Velocity(const pencil::Box& box) : u(box), v(box), w(box) {}
    VelocityViews views() const { return {u.view(), v.view(), w.view()}; }
  };

  void fill_ghosts();
  void add_backflow(const VelocityViews& predicted) const;
  // Returns the addition to the predicted velocity that gives it the prescribed mean.
  double missing(const Stage& stage);
  CorrectionStep correction(int k, const Stage& stage, double forcing_velocity) const;
  void add_force(const Stage& stage, const VelocityViews& predicted) const;
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
  std::optional<BatchDiffusion> implicit_;         // empty if all diffusion is explicit
  std::unique_ptr<Scalar<Place::device>> scalar_;  // points to its own fields
  // Body force along each axis; empty where there is none.
  std::array<std::optional<DeviceField>, k_components> force_;
  FlowMeter<Place::device> meter_;
  Clock clock_;
  StepSeconds seconds_;
};

BatchSchedule::BatchSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const pencil::PoissonOptions& solvers,
                             const CommOptions& comm)
    : BatchSchedule(domain, parameters, scalar, comm, solvers_of_batches(solvers, comm)) {}

BatchSchedule::BatchSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const CommOptions& comm,
                             const pencil::BatchedOptions& solvers)
    : domain_(domain),
      parameters_(parameters),
      diffusion_(parameters.diffusion),
      host_(domain),
      outflow_(domain, parameters.viscosity),
      ghosts_(domain, comm, outflow_,
              scalar.enabled ? scalar.sides(domain.boundaries) : ScalarSides{}),
      velocity_(domain.box),
      predicted_(domain.box),
      pressure_(domain.box),
      momentum_(domain, parameters.viscosity, diffusion_, body_force(parameters)),
      projection_(domain, ghosts_, swept(solvers, pressure_sweep(diffusion_)), diffusion_),
      meter_(domain) {
  if (diffusion_ != Diffusion::explicit_all)
    implicit_.emplace(domain, diffusion_, kept_component(parameters), solvers);
  if (!scalar.enabled) return;
  scalar_ = std::make_unique<Scalar<Place::device>>(domain, scalar, diffusion_, solvers);
  host_scalar_.emplace(domain.box);
}

State& BatchSchedule::state() {
  fetch();
  return host_;
}

Field& BatchSchedule::scalar() {
  fetch();
  return *host_scalar_;
}

void BatchSchedule::fetch() {
  if (host_is_current_) return;
  velocity_.u.copy_to(host_.u);
  velocity_.v.copy_to(host_.v);
  velocity_.w.copy_to(host_.w);
  pressure_.copy_to(host_.p);
  if (scalar_) scalar_->field().copy_to(*host_scalar_);
  host_is_current_ = true;
}

void BatchSchedule::complete() {
  velocity_.u.copy_from(host_.u);
  velocity_.v.copy_from(host_.v);
  velocity_.w.copy_from(host_.w);
  pressure_.copy_from(host_.p);
  fill_ghosts();
  host_is_current_ = false;
  if (!scalar_) return;
  scalar_->field().copy_from(*host_scalar_);
  ghosts_.fill(scalar_->field(), k_scalar);
}

void BatchSchedule::fill_ghosts() {
  const auto [u, v, w] = velocity_.views();
  const GhostedView all[] = {{u, k_u}, {v, k_v}, {w, k_w}, {pressure_.view(), k_pressure}};
  ghosts_.fill(all);
}

double BatchSchedule::advance(int n, const Stage& stage) {
  const VelocityViews velocity = velocity_.views(), predicted = predicted_.views();
  clock_.restart();
  if (scalar_) scalar_->advance(velocity, ghosts_, stage);
  lap(seconds_.scalar, "scalar");
  outflow_.predict(velocity, pressure_.view(), stage);
  momentum_.predict(velocity, pressure_.view(), n, stage, predicted);
  add_backflow(predicted);
  if (scalar_) scalar_->add_source(predicted.w, stage);
  add_force(stage, predicted);
  const double forcing_velocity =
      parameters_.forcing == Forcing::bulk_velocity ? missing(stage) : 0.0;
  lap(seconds_.momentum, "momentum");
  if (implicit_) {
    implicit_->set_factor(stage.implicit * parameters_.viscosity * stage.gamma);
    implicit_->solve(predicted, outflow_, forcing_velocity);
    lap(seconds_.diffusion, "diffusion");
  }
  ghosts_.close(predicted);
  projection_.solve(predicted, stage.gamma);
  lap(seconds_.poisson, "poisson");
  const auto step = [&](int k) { return correction(k, stage, forcing_velocity); };
  projection_.correct(predicted, step, velocity, pressure_.view());
  lap(seconds_.correction, "correction");
  fill_ghosts();
  lap(seconds_.ghosts, "ghosts");
  host_is_current_ = false;
  return forcing_velocity;
}

// Adds the source terms of the outflow condition to the tangential components in adjacent cells.
void BatchSchedule::add_backflow(const VelocityViews& predicted) const {
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end)
      for (int c = 0; c < k_components; ++c) {
        const FieldView& added = outflow_.added(axis, end, c);
        if (!added.first) continue;
        Range unknowns[] = {
            {0, domain_.unknowns(c, 0)}, {0, domain_.unknowns(c, 1)}, {0, domain_.unknowns(c, 2)}};
        unknowns[axis] = {0, 1};
        const FieldView from = part_of(added, unknowns[0], unknowns[1], unknowns[2]);
        unknowns[axis] = cells_beside(domain_, axis, end);
        add_cells(part_of(predicted[c], unknowns[0], unknowns[1], unknowns[2]), from);
      }
}

void BatchSchedule::set_force(const ForceFields& force) {
  for (int c = 0; c < k_components; ++c) {
    const Field* values = force.along(c);
    if (values == nullptr) continue;
    if (!force_[c]) force_[c].emplace(domain_.box);
    force_[c]->copy_from(*values);
  }
}

void BatchSchedule::add_force(const Stage& stage, const VelocityViews& predicted) const {
  for (int c = 0; c < k_components; ++c)
    if (force_[c])
      launch_cells("dns: body force",
                   {domain_.unknowns(c, 0), domain_.unknowns(c, 1), domain_.unknowns(c, 2)},
                   PushRows{force_[c]->view(), predicted[c], stage.gamma});
}

double BatchSchedule::missing(const Stage& stage) {
  const int forced = index_of(parameters_.forcing_axis);
  ReproducibleSum sum = meter_.sum(predicted_.views()[forced]);
  if (implicit_)
    add_wall_friction(domain_, diffusion_ == Diffusion::implicit_all,
                      (1.0 - stage.implicit) * parameters_.viscosity * stage.gamma,
                      meter_.row_sums(velocity_.views()[forced]), sum);
  return missing_velocity(domain_, parameters_, sum);
}

CorrectionStep BatchSchedule::correction(int k, const Stage& stage, double forcing_velocity) const {
  return correction_step(parameters_, stage,
                         implicit_ ? forcing_velocity * implicit_->response(k) : forcing_velocity);
}

FlowMeasures BatchSchedule::measure() {
  return meter_.measure(velocity_.views(), scalar_ ? scalar_->view() : FieldView{});
}

pencil::PoissonReport BatchSchedule::diffusion_report() const {
  return implicit_ ? implicit_->report() : pencil::PoissonReport();
}

void BatchSchedule::lap(double& part, const char* name) {
  Kokkos::fence();
  part += clock_.restart();
  observe_lap(Phase::compute, name);
}

}  // namespace

std::unique_ptr<Schedule> make_batch_schedule(const Domain& domain,
                                              const FlowParameters& parameters,
                                              const ScalarOptions& scalar,
                                              const pencil::PoissonOptions& solvers,
                                              const CommOptions& comm) {
  return std::make_unique<BatchSchedule>(domain, parameters, scalar, solvers, comm);
}

}  // namespace octant::dns
