#include "dns/measure.hpp"

#include <algorithm>
#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"
#include "dns/forcing.hpp"

namespace octant::dns {

namespace {

// Names the first cell of this rank that holds no number.
std::string broken_cell(const Domain& d, const State& s) {
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

// From the smallest to the largest of the values in cells and at the sides.
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
  FlowFigures figures = flow.measure();
  reproducible_sum(communicator, figures.sums);
  const auto total = [&](int sum) { return figures.sums[sum].to_double(); };

  Totals t;
  const double share = d.grid.dx * d.grid.dy / d.grid.volume();
  for (int c = 0; c < k_components; ++c) {
    t.mean[c] = total(k_sum_mean + c) * share;
    t.kinetic[c] = 0.5 * total(k_sum_squares + c) * share;
  }
  if (!std::isfinite(t.kinetic_energy())) {
    const std::string cell = broken_cell(d, flow.state());
    communicator.agree([&] {
      if (!cell.empty())
        throw RunError("the flow is not finite: {}; reduce time.cfl or time.step", cell);
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
      figures.largest[0], figures.largest[1], figures.largest[2], figures.divergence, figures.rate,
      figures.warmest,    -figures.coldest,   force[0],           force[1],           force[2]};
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

// Reciprocal spacings of the cells at a side.
Vector fineness(const Grid& grid, int axis, int end) {
  const int k = axis == 2 && end == 0 ? 0 : grid.cells[2] - 1;
  return {1.0 / grid.dx, 1.0 / grid.dy,
          1.0 / (axis == 2 ? grid.dz_cell[k] : smallest_height(grid))};
}

// The mean speed at which fluid leaves, because nothing that enters stays: the flow has it after
// the first step, however it was before.
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

// |u|/dx + |v|/dy + |w|/dz of what moves at the sides of the domain, each at the side where it is
// largest: they meet in corners.
double boundary_rate(const Domain& domain) {
  const double leaving = leaving_speed(domain);
  Vector largest{};
  for (int axis = 0; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end) {
      Vector velocity = domain.boundaries.velocity(axis, end);
      if (domain.boundaries.side(axis, end) == Side::outflow) velocity[axis] = leaving;
      const Vector per_length = fineness(domain.grid, axis, end);
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
  if (const int kept = kept_component(parameters); kept >= 0)
    advection += std::abs(parameters.bulk_velocity - totals.mean[kept]) / d.grid.spacing(kept);
  const double rate = advection / k_advection_limit + diffusion_rate(flow) / k_diffusion_limit;
  const Vector force = body_force(parameters);
  const double growth = ((std::abs(force[0]) + totals.force[0]) / d.grid.dx +
                         (std::abs(force[1]) + totals.force[1]) / d.grid.dy +
                         totals.force[2] / smallest_height(d.grid)) /
                        k_advection_limit;
  // (rate + growth dt) dt = cfl
  const double driven = 2.0 * cfl / (rate + std::sqrt(rate * rate + 4.0 * growth * cfl));
  if (!flow.has_scalar()) return driven;
  // Pressure holds most of the buoyancy, so that this is not added to what already moves.
  const double rise = std::abs(flow.scalar_options().buoyancy) * totals.scalar_range;
  return std::min(driven, std::sqrt(cfl * k_advection_limit * smallest_height(d.grid) / rise));
}

}  // namespace octant::dns
