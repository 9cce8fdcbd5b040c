// Batch schedule: all planes at once, in the memory of Kokkos' default execution space, which is
// host memory in a build without a GPU.
//
// Within a step no field is copied between device and host, but only numbers per plane, and per row
// if a mean velocity is prescribed between walls. Kernels pack the messages between ranks.
//
// With dns.pencil_axis = "z", a step stores its fields in pencils along z. The state in host memory
// and all sums of rows are in x-pencils, so that results have the same bits.
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
#include "dns/whole_rows.hpp"

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
                                          const CommOptions& comm, Axis pencil_axis) {
  return {
      .method = solvers.tridiagonal.method,
      .comm = pencil::options_of_batches(solvers.transpose, comm),
      .memory = std::make_shared<pencil::BatchedMemory>(),
      .fields = pencil_axis == Axis::z ? pencil::Orientation::z_direct : pencil::Orientation::x};
}

ScalarSides sides_of(const ScalarOptions& scalar, const Domain& domain) {
  return scalar.enabled ? scalar.sides(domain.boundaries) : ScalarSides{};
}

pencil::BatchedOptions swept(pencil::BatchedOptions options, pencil::Sweep sweep) {
  options.sweep = sweep;
  return options;
}

// Returns the domain in the given pencils; nothing if it is in these pencils.
std::optional<Domain> turned(const Domain& domain, pencil::Orientation fields) {
  if (fields == domain.orientation) return std::nullopt;
  return domain.turned(fields);
}

// A velocity in device memory.
struct DeviceVelocity {
  DeviceField u, v, w;
  explicit DeviceVelocity(const pencil::Box& box) : u(box), v(box), w(box) {}
  VelocityViews views() const { return {u.view(), v.view(), w.view()}; }
};

// Copies in x-pencils of the fields of a flow that is stored in other pencils.
struct RowCopies {
  // Collective.
  RowCopies(const Domain& rows, const Domain& steps, const FlowParameters& parameters,
            const CommOptions& comm, const ScalarSides& sides, bool with_scalar,
            const pencil::BatchedOptions& solvers)
      : transposes(rows, steps, solvers),
        outflow(rows, parameters.viscosity),
        ghosts(rows, comm, outflow, sides),
        velocity(rows.box) {
    if (with_scalar) scalar.emplace(rows.box);
  }

  // Gathers velocity and scalar, if there is one, and fills their ghosts. Collective.
  void gather(const VelocityViews& from, const FieldView& from_scalar) {
    const VelocityViews to = velocity.views();
    std::vector<GhostedView> all;
    for (int c = 0; c < k_components; ++c) {
      transposes.gather(c, from[c], to[c]);
      all.push_back({to[c], c});
    }
    if (scalar) {
      transposes.gather(k_scalar, from_scalar, scalar->view());
      all.push_back({scalar->view(), k_scalar});
    }
    ghosts.fill(all);
  }
  // Copies a field to the host, with ghosts. Collective.
  void fetch(const DeviceField& from, int quantity, Field& to) {
    transposes.gather(quantity, from.view(), velocity.u.view());
    ghosts.fill(velocity.u, quantity);
    velocity.u.copy_to(to);
  }
  // Copies the cells of a field of the host. Collective.
  void send(const Field& from, int quantity, const DeviceField& to) {
    velocity.u.copy_from(from);
    transposes.scatter(quantity, velocity.u.view(), to.view());
  }

  WholeRows transposes;
  Outflow<Place::device> outflow;  // of x-pencils; only their ghosts refer to it
  BatchGhosts ghosts;
  DeviceVelocity velocity;
  std::optional<DeviceField> scalar;
};

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
  std::vector<ExchangeCount> halo_report() const override;
  pencil::TransposeTraffic row_report() const override {
    return rows_ ? rows_->transposes.traffic() : pencil::TransposeTraffic();
  }

 private:
  BatchSchedule(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
                const CommOptions& comm, const pencil::BatchedOptions& solvers);

  void fill_ghosts();
  void add_backflow(const VelocityViews& predicted) const;
  // Returns the addition to the predicted velocity that gives it the prescribed mean.
  double missing(const Stage& stage);
  CorrectionStep correction(int k, const Stage& stage, double forcing_velocity) const;
  void add_force(const Stage& stage, const VelocityViews& predicted) const;
  void fetch();
  void fetch(const DeviceField& from, int quantity, Field& to);
  void send(const Field& from, int quantity, DeviceField& to);
  void lap(double& part, const char* name);

  const Domain& row_domain_;      // domain in x-pencils: state of the host and sums
  std::optional<Domain> turned_;  // domain in other pencils; empty if a step uses x-pencils
  const Domain& domain_;          // domain of a step
  FlowParameters parameters_;
  Diffusion diffusion_;
  State host_;
  std::optional<Field> host_scalar_;
  bool host_is_current_ = true;

  Outflow<Place::device> outflow_;
  BatchGhosts ghosts_;
  DeviceVelocity velocity_, predicted_;
  DeviceField pressure_;
  BatchMomentum momentum_;
  BatchProjection projection_;
  std::optional<BatchDiffusion> implicit_;         // empty if all diffusion is explicit
  std::unique_ptr<Scalar<Place::device>> scalar_;  // points to its own fields
  // Body force along each axis; empty where there is none.
  std::array<std::optional<DeviceField>, k_components> force_;
  std::unique_ptr<RowCopies> rows_;  // null if a step uses x-pencils; points to its own fields
  FlowMeter<Place::device> meter_;
  Clock clock_;
  StepSeconds seconds_;
};

BatchSchedule::BatchSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const pencil::PoissonOptions& solvers,
                             const CommOptions& comm)
    : BatchSchedule(domain, parameters, scalar, comm,
                    solvers_of_batches(solvers, comm, parameters.pencil_axis)) {}

BatchSchedule::BatchSchedule(const Domain& domain, const FlowParameters& parameters,
                             const ScalarOptions& scalar, const CommOptions& comm,
                             const pencil::BatchedOptions& solvers)
    : row_domain_(domain),
      turned_(turned(domain, solvers.fields)),
      domain_(turned_ ? *turned_ : domain),
      parameters_(parameters),
      diffusion_(parameters.diffusion),
      host_(domain),
      outflow_(domain_, parameters.viscosity),
      ghosts_(domain_, comm, outflow_, sides_of(scalar, domain)),
      velocity_(domain_.box),
      predicted_(domain_.box),
      pressure_(domain_.box),
      momentum_(domain_, parameters.viscosity, diffusion_, body_force(parameters)),
      projection_(domain_, ghosts_, swept(solvers, pressure_sweep(diffusion_)), diffusion_),
      meter_(domain) {
  if (diffusion_ != Diffusion::explicit_all)
    implicit_.emplace(domain_, diffusion_, prescribed_mean_component(parameters), solvers);
  if (turned_)
    rows_ = std::make_unique<RowCopies>(domain, domain_, parameters, comm, sides_of(scalar, domain),
                                        scalar.enabled, solvers);
  if (!scalar.enabled) return;
  scalar_ = std::make_unique<Scalar<Place::device>>(domain_, scalar, diffusion_, solvers);
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
  fetch(velocity_.u, k_u, host_.u);
  fetch(velocity_.v, k_v, host_.v);
  fetch(velocity_.w, k_w, host_.w);
  fetch(pressure_, k_pressure, host_.p);
  if (scalar_) fetch(scalar_->field(), k_scalar, *host_scalar_);
  host_is_current_ = true;
}

void BatchSchedule::fetch(const DeviceField& from, int quantity, Field& to) {
  if (rows_) rows_->fetch(from, quantity, to);
  else from.copy_to(to);
}

void BatchSchedule::send(const Field& from, int quantity, DeviceField& to) {
  if (rows_) rows_->send(from, quantity, to);
  else to.copy_from(from);
}

void BatchSchedule::complete() {
  send(host_.u, k_u, velocity_.u);
  send(host_.v, k_v, velocity_.v);
  send(host_.w, k_w, velocity_.w);
  send(host_.p, k_pressure, pressure_);
  fill_ghosts();
  host_is_current_ = false;
  if (!scalar_) return;
  send(*host_scalar_, k_scalar, scalar_->field());
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
    send(*values, k_pressure, *force_[c]);
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
  const bool along_y = diffusion_ == Diffusion::implicit_all;
  FieldView predicted = predicted_.views()[forced], now = velocity_.views()[forced];
  if (rows_) {
    const auto whole = rows_->velocity.views();
    rows_->transposes.gather(forced, predicted, whole.u);
    if (implicit_) rows_->transposes.gather_sides(along_y, now, whole.v);
    predicted = whole.u, now = whole.v;
  }
  ReproducibleSum sum = meter_.sum(predicted);
  if (implicit_)
    add_wall_friction(row_domain_, along_y,
                      (1.0 - stage.implicit) * parameters_.viscosity * stage.gamma,
                      meter_.row_sums(now), sum);
  return missing_velocity(row_domain_, parameters_, sum);
}

CorrectionStep BatchSchedule::correction(int k, const Stage& stage, double forcing_velocity) const {
  return correction_step(parameters_, stage,
                         implicit_ ? forcing_velocity * implicit_->response(k) : forcing_velocity);
}

FlowMeasures BatchSchedule::measure() {
  const FieldView scalar = scalar_ ? scalar_->view() : FieldView{};
  if (!rows_) return meter_.measure(velocity_.views(), scalar);
  rows_->gather(velocity_.views(), scalar);
  return meter_.measure(rows_->velocity.views(),
                        rows_->scalar ? rows_->scalar->view() : FieldView{});
}

std::vector<ExchangeCount> BatchSchedule::halo_report() const {
  std::vector<ExchangeCount> counts = ghosts_.report();
  if (rows_)
    for (const ExchangeCount& count : rows_->ghosts.report()) counts.push_back(count);
  return counts;
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
