#include "dns_model/dns_simulation.hpp"

#include <algorithm>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "dns/incompressible_flow.hpp"
#include "dns/operators.hpp"

namespace octant {

namespace {

// Maximum growth factor of the time step from one step to the next. Velocities that decrease faster
// may change sign and grow again.
constexpr double k_growth = 1.2;

// Number of steps with backward Euler after an impulsive start. Rannacher (1984, Numer. Math. 43,
// 309) uses four implicit steps; each step here has three implicit stages.
constexpr int k_damped_steps = 2;

pencil::PoissonOptions solver_options(const DnsOptions& options, const pencil::Tuning& tuning) {
  pencil::PoissonOptions solver;
  solver.tridiagonal.method = options.flow.poisson;
  solver.tridiagonal.backend = tuning.backend;
  solver.transpose = tuning.backend;
  return solver;
}

}  // namespace

pencil::TuningProblem tuning_problem(const DnsOptions& options) {
  pencil::TuningProblem problem;
  problem.cells = options.grid.cells;
  const dns::Boundaries boundaries = options.make_boundaries();
  problem.poisson = dns::pressure_problem(options.make_grid(), boundaries);
  for (int axis = 0; axis < 3; ++axis)
    if (boundaries.side(axis, 1) == dns::Side::outflow) problem.cells_of_last_rank[axis] = 2;
  problem.tridiagonal.method = options.flow.poisson;
  if (options.flow.diffusion == dns::Diffusion::implicit_z) problem.field_solves = 3;
  problem.in_batches = dns::in_batches(options.flow);
  problem.comm = options.comm;
  if (options.flow.pencil_axis == Axis::z) problem.fields = pencil::Orientation::z_direct;
  return problem;
}

DnsSimulation::DnsSimulation(const Communicator& communicator, const DnsOptions& options)
    : options_(options),
      tuning_(pencil::tune(communicator, tuning_problem(options), options.pencil)),
      domain_(communicator, options.make_grid(), options.make_boundaries(), tuning_.processes),
      flow_(domain_, options.flow, options.scalar, solver_options(options, tuning_), options.comm,
            options.force->is_wanted() ? options.force.get() : nullptr),
      statistics_(domain_, options.statistics, options.flow.viscosity) {}

// The fields are velocity, pressure, the previous stage's right-hand sides, and the pressure
// correction.
double DnsSimulation::min_bytes(const DnsOptions& options) {
  constexpr int k_fields = 4 + 3 + 1;
  const auto& cells = options.grid.cells;
  return 1.0 * k_fields * sizeof(double) * cells[0] * cells[1] * cells[2];
}

void DnsSimulation::initialise() {
  const auto timing = timers_.time("initial state");
  options_.problem->set(domain_, flow_.state());
  if (flow_.has_scalar()) options_.problem->set_scalar(domain_, flow_.scalar());
  resume(0.0, 0, k_no_limit);
  if (dns::has_sudden_walls(flow_)) flow_.set_damped_steps(k_damped_steps);
}

void DnsSimulation::resume(double time, std::int64_t step, double step_limit) {
  flow_.complete();
  flow_.set_time(time);
  time_ = time;
  step_ = step;
  step_limit_ = step_limit;
}

void DnsSimulation::measure() {
  const auto timing = timers_.time("measuring", Phase::compute);
  totals_ = dns::measure(flow_);
}

double DnsSimulation::stable_dt() const {
  const FlowTimeOptions& time = options_.time;
  if (time.step > 0.0) return time.step;
  const double longest = time.largest_step > 0.0 ? time.largest_step : time.end;
  return std::min({dns::stable_step(flow_, totals_, time.cfl), longest, k_growth * step_limit_});
}

void DnsSimulation::step(double dt) {
  step_limit_ = stable_dt();
  if (flow_.damped_steps() > 0 && !dns::needs_damping(flow_, dt)) flow_.set_damped_steps(0);
  if (flow_.damped_steps() == k_damped_steps)
    log::info(
        "initial values and boundary values are discontinuous: implicit diffusion uses backward "
        "Euler in the first {} steps",
        k_damped_steps);
  {
    const auto timing = timers_.time("steps", Phase::compute);
    const std::int64_t before = thread_cpu_ns();
    flow_.step(dt);
    if (options_.slowness > 1.0)
      burn(static_cast<std::int64_t>((options_.slowness - 1.0) *
                                     static_cast<double>(thread_cpu_ns() - before)));
    timing.count(domain_.box.cells());
  }
  time_ += dt;
  ++step_;
  cell_updates_ += domain_.box.cells();
  const auto& [x, y, z] = options_.grid.cells;
  all_cell_updates_ += std::int64_t{x} * y * z;
  if (!statistics_.is_due(step_, time_)) return;
  const auto timing = timers_.time("statistics", Phase::compute);
  statistics_.sample(flow_.state(), flow_.has_scalar() ? &flow_.scalar() : nullptr, time_);
}

}  // namespace octant
