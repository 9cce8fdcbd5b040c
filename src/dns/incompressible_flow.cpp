#include "dns/incompressible_flow.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "dns/forcing.hpp"
#include "dns/ghosts.hpp"

namespace octant::dns {

bool in_batches(const FlowParameters& parameters) {
  const bool along_z = parameters.pencil_axis == Axis::z;
  if (!parameters.schedule) return along_z || !k_is_host<DeviceSpace>;
  if (along_z && parameters.schedule == ScheduleKind::planes)
    throw InputError(
        "dns.pencil_axis = \"z\" requires dns.schedule = \"batches\" or \"auto\"; the schedule "
        "\"planes\" needs whole lines along x");
  return parameters.schedule == ScheduleKind::batches;
}

Flow::Flow(const Domain& domain, const FlowParameters& parameters, const ScalarOptions& scalar,
           const pencil::PoissonOptions& solvers, const CommOptions& comm, const BodyForce* force)
    : domain_(domain), parameters_(parameters), scalar_(scalar) {
  const auto make = in_batches(parameters) ? make_batch_schedule : make_plane_schedule;
  schedule_ = make(domain, parameters, scalar, solvers, comm);
  if (force == nullptr) return;
  force_ = std::make_unique<ForceFields>(domain, *force);
  update_force(0.0);
}

void Flow::set_time(double time) {
  time_ = time;
  update_force(time);
}

void Flow::update_force(double time) {
  if (force_ && force_->set_time(time)) schedule_->set_force(*force_);
}

// Advances by one step. The body force of a stage is evaluated at the middle of the stage. After
// the step it is evaluated at the beginning of the next step, whose length depends on the force.
void Flow::step(double dt) {
  mean_force_ = 0.0;
  double begin = 0.0;
  for (int n = 0; n < k_stages; ++n) {
    Stage stage = runge_kutta_stage(n, dt);
    if (damped_steps_ > 0) stage.implicit = 1.0;
    update_force(time_ + begin + 0.5 * stage.gamma);
    mean_force_ += schedule_->advance(n, stage) / dt;
    begin += stage.gamma;
  }
  damped_steps_ = std::max(0, damped_steps_ - 1);
  if (parameters_.forcing == Forcing::pressure_gradient)
    mean_force_ = parameters_.pressure_gradient;
  set_time(time_ + dt);
}

namespace {

// Describes the first cell of this rank whose velocity is not finite; empty if there is none.
std::string describe_invalid_cell(const Domain& d, const State& s) {
  for (int k = 0; k < d.nz; ++k)
    for (int j = 0; j < d.ny; ++j)
      for (int i = 0; i < d.nx; ++i) {
        const double u = s.u.row(k, j)[i], v = s.v.row(k, j)[i], w = s.w.row(k, j)[i];
        if (std::isfinite(u) && std::isfinite(v) && std::isfinite(w)) continue;
        const int at[3] = {i, d.box[1].begin + j, d.box[2].begin + k};
        return fmt::format("cell ({}, {}, {}) at ({:.6g}, {:.6g}, {:.6g}): u = {}, v = {}, w = {}",
                           at[0], at[1], at[2], (at[0] + 0.5) * d.grid.dx,
                           (at[1] + 0.5) * d.grid.dy, d.grid.centre[at[2]], u, v, w);
      }
  return "";
}

// Returns the range (maximum - minimum) of the scalar in cells and at the sides.
double range_with_sides(const ScalarSides& sides, double smallest, double largest) {
  for (const auto& axis : sides)
    for (const ScalarSide& side : axis) {
      if (side.condition != Condition::dirichlet) continue;
      smallest = std::min(smallest, side.value);
      largest = std::max(largest, side.value);
    }
  return largest - smallest;
}

}  // namespace

Totals measure(const Flow& flow) {
  const Domain& d = flow.domain();
  const Communicator& communicator = d.pencils.communicator();
  FlowMeasures figures = flow.measure();
  reproducible_sum(communicator, figures.sums);
  const auto total = [&](int sum) { return figures.sums[sum].to_double(); };

  Totals t;
  const double share = d.grid.dx * d.grid.dy / d.grid.volume();
  for (int c = 0; c < k_components; ++c) {
    t.mean[c] = total(k_sum_mean + c) * share;
    t.kinetic[c] = 0.5 * total(k_sum_squares + c) * share;
  }
  if (!std::isfinite(t.kinetic_energy())) {
    const std::string cell = describe_invalid_cell(d, flow.state());
    communicator.collective_try([&] {
      if (!cell.empty())
        throw RunError("the flow contains NaN or infinite values: {}; reduce time.cfl or time.step",
                       cell);
    });
    throw RunError("the kinetic energy of the flow is {}; reduce time.cfl or time.step",
                   t.kinetic_energy());
  }
  const double columns = static_cast<double>(d.grid.cells[0]) * d.grid.cells[1];
  t.scalar_mean = total(k_sum_scalar) * share;
  for (int end = 0; end < 2; ++end) {
    t.wall_shear[end] = flow.parameters().viscosity * total(k_sum_shear + end) / columns;
    if (flow.has_scalar())
      t.scalar_flux[end] = -flow.scalar_options().diffusivity * total(k_sum_flux + end) / columns;
  }
  const Vector force = flow.largest_force();
  double largest[] = {
      figures.largest[0], figures.largest[1],  figures.largest[2], figures.divergence, figures.rate,
      figures.scalar_max, -figures.scalar_min, force[0],           force[1],           force[2]};
  communicator.max_in_place(std::span<double>(largest));
  t.largest = {largest[0], largest[1], largest[2]};
  t.divergence = largest[3];
  t.advection_rate = largest[4];
  t.force = {largest[7], largest[8], largest[9]};
  if (flow.has_scalar())
    t.scalar_range =
        range_with_sides(flow.scalar_options().sides(d.boundaries), -largest[6], largest[5]);
  if (t.advection_rate > 0.0) t.scaled_divergence = t.divergence / t.advection_rate;
  return t;
}

namespace {

constexpr double k_advection_limit = 1.7320508075688772;  // sqrt(3)
constexpr double k_diffusion_limit = 2.51;

double smallest_height(const Grid& grid) {
  double smallest = grid.dz_cell[0];
  for (int k = 0; k < grid.cells[2]; ++k) smallest = std::min(smallest, grid.dz_cell[k]);
  return smallest;
}

// Returns the reciprocal sizes of the cells at a side, along all axes.
Vector inverse_cell_sizes(const Grid& grid, int axis, int end) {
  const int k = axis == 2 && end == 0 ? 0 : grid.cells[2] - 1;
  return {1.0 / grid.dx, 1.0 / grid.dy,
          1.0 / (axis == 2 ? grid.dz_cell[k] : smallest_height(grid))};
}

// Returns the mean outflow velocity that balances the inflow, which the flow has after the first
// step for any initial state.
double leaving_speed(const Domain& domain) {
  double entering = 0.0, area = 0.0;
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      const double face = domain.grid.volume() / domain.grid.size[axis];
      if (domain.boundaries.side(axis, end) == Side::outflow) area += face;
      entering += (end == 0 ? face : -face) * domain.boundaries.velocity(axis, end)[axis];
    }
  return area > 0.0 ? std::max(entering, 0.0) / area : 0.0;
}

// Returns |u|/dx + |v|/dy + |w|/dz for the velocities at the sides of the domain. Each term is the
// maximum over all sides, because sides meet at corners.
double boundary_rate(const Domain& domain) {
  const double leaving = leaving_speed(domain);
  Vector largest{};
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      Vector velocity = domain.boundaries.velocity(axis, end);
      if (domain.boundaries.side(axis, end) == Side::outflow) velocity[axis] = leaving;
      const Vector per_length = inverse_cell_sizes(domain.grid, axis, end);
      for (int d = 0; d < 3; ++d)
        largest[d] = std::max(largest[d], std::abs(velocity[d]) * per_length[d]);
    }
  return largest[0] + largest[1] + largest[2];
}

double diffusion_rate(const Flow& flow) {
  const Grid& grid = flow.domain().grid;
  const Diffusion diffusion = flow.parameters().diffusion;
  double inverse_squares = 0.0;
  if (diffusion != Diffusion::implicit_all)
    inverse_squares += 1.0 / (grid.dx * grid.dx) + 1.0 / (grid.dy * grid.dy);
  if (diffusion == Diffusion::explicit_all)
    inverse_squares += 1.0 / (smallest_height(grid) * smallest_height(grid));
  double diffusivity = flow.parameters().viscosity;
  if (flow.has_scalar()) diffusivity = std::max(diffusivity, flow.scalar_options().diffusivity);
  return 4.0 * diffusivity * inverse_squares;
}

}  // namespace

double stable_step(const Flow& flow, const Totals& totals, double cfl) {
  const Domain& d = flow.domain();
  const FlowParameters& parameters = flow.parameters();
  double advection = std::max(totals.advection_rate, boundary_rate(d));
  if (const int kept = prescribed_mean_component(parameters); kept >= 0)
    advection += std::abs(parameters.bulk_velocity - totals.mean[kept]) / d.grid.spacing(kept);
  const double rate = advection / k_advection_limit + diffusion_rate(flow) / k_diffusion_limit;
  const Vector force = body_force(parameters);
  const double growth = ((std::abs(force[0]) + totals.force[0]) / d.grid.dx +
                         (std::abs(force[1]) + totals.force[1]) / d.grid.dy +
                         totals.force[2] / smallest_height(d.grid)) /
                        k_advection_limit;
  // Solution of (rate + growth dt) dt = cfl.
  const double driven = 2.0 * cfl / (rate + std::sqrt(rate * rate + 4.0 * growth * cfl));
  if (!flow.has_scalar()) return driven;
  // Buoyancy is not added to the present velocities, because pressure balances most of it.
  const double rise = std::abs(flow.scalar_options().buoyancy) * totals.scalar_range;
  return std::min(driven, std::sqrt(cfl * k_advection_limit * smallest_height(d.grid) / rise));
}

namespace {

// Indices of largest absolute values at one side: distance of the side's value from the linear
// extrapolation of two cells, difference of these cells, and values themselves.
enum Contrast { k_jump, k_difference, k_magnitude, k_contrasts };
using Contrasts = std::array<double, k_contrasts>;

// Distances along an axis, from a side to the centres of the adjacent cells, and between the
// centres of the first two cells; in units of the spacing along x and y.
struct FirstCells {
  double half, spacing;
};

FirstCells first_cells(const Domain& d, int axis, int end) {
  if (axis < 2) return {0.5, 1.0};
  if (end == 0) return {0.5 * d.dz_cell[0], d.dz_face[0]};
  return {0.5 * d.dz_cell[d.nz - 1], d.dz_face[d.nz - 2]};
}

void compare(const Domain& d, const Field& field, std::array<int, 3> cells, int axis, int end,
             double value, Contrasts& most) {
  const FirstCells first = first_cells(d, axis, end);
  const double ratio = first.half / first.spacing;
  std::array<int, 3> at{};
  const int first_cell = end == 0 ? 0 : cells[axis] - 1;
  const int second_cell = first_cell + (end == 0 ? 1 : -1);
  const int other = axis == 0 ? 1 : 0, another = axis == 2 ? 1 : 2;
  for (at[another] = 0; at[another] < cells[another]; ++at[another])
    for (at[other] = 0; at[other] < cells[other]; ++at[other]) {
      at[axis] = first_cell;
      const double near = field.row(at[2], at[1])[at[0]];
      at[axis] = second_cell;
      const double difference = near - field.row(at[2], at[1])[at[0]];
      most[k_jump] = std::max(most[k_jump], std::abs(value - (near + ratio * difference)));
      most[k_difference] = std::max(most[k_difference], std::abs(difference));
      most[k_magnitude] = std::max({most[k_magnitude], std::abs(near), std::abs(value)});
    }
}

}  // namespace

bool has_sudden_walls(Flow& flow) {
  constexpr double k_max_differences = 3.0, k_rounding = 1e-10;
  const Diffusion diffusion = flow.parameters().diffusion;
  if (diffusion == Diffusion::explicit_all) return false;
  const Domain& d = flow.domain();
  const GhostRules rules = ghost_rules(
      d.boundaries, flow.has_scalar() ? flow.scalar_options().sides(d.boundaries) : ScalarSides{});
  const State& state = flow.state();
  std::array<Contrasts, 4 * 3 * 2> sides{};
  std::size_t side = 0;
  for (int quantity = 0; quantity < 4; ++quantity)
    for (int axis = 0; axis < 3; ++axis)
      for (int end = 0; end < 2; ++end, ++side) {
        const bool is_scalar = quantity == k_components;
        const GhostRule& rule = rules[is_scalar ? k_scalar : quantity][axis][end];
        if (is_scalar && !flow.has_scalar()) continue;
        if (axis < 2 && diffusion == Diffusion::implicit_z) continue;
        if (!d.ends(axis, end) || rule.on_face || rule.condition != Condition::dirichlet) continue;
        std::array<int, 3> cells{d.nx, d.ny, d.nz};
        for (int n = 0; n < 3 && !is_scalar; ++n) cells[n] = d.unknowns(quantity, n);
        compare(d, is_scalar ? flow.scalar() : state.velocity(quantity), cells, axis, end,
                rule.value, sides[side]);
      }
  d.pencils.communicator().max_in_place(std::span(sides.front().data(), k_contrasts * side));
  return std::any_of(sides.begin(), sides.end(), [](const Contrasts& c) {
    return c[k_jump] > k_max_differences * c[k_difference] &&
           c[k_jump] > k_rounding * c[k_magnitude];
  });
}

bool needs_damping(const Flow& flow, double dt) {
  const Domain& d = flow.domain();
  double smallest = d.grid.dz_cell[0];
  for (int k = 0; k < d.grid.cells[2]; ++k) smallest = std::min(smallest, d.grid.dz_cell[k]);
  double rate = 4.0 / (smallest * smallest);
  if (flow.parameters().diffusion == Diffusion::implicit_all)
    for (int axis = 0; axis < 2; ++axis)
      rate = std::max(rate, 4.0 / (d.grid.spacing(axis) * d.grid.spacing(axis)));
  const double scalar = flow.has_scalar() ? flow.scalar_options().diffusivity : 0.0;
  rate *= std::max(flow.parameters().viscosity, scalar);
  double longest = 0.0;
  for (int n = 0; n < k_stages; ++n) longest = std::max(longest, runge_kutta_stage(n, dt).gamma);
  return 0.5 * longest * rate > 1.0;
}

}  // namespace octant::dns
