#include "dns/stable_step.hpp"

#include <algorithm>
#include <cmath>

#include "dns/forcing.hpp"

namespace octant::dns {

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
  const double growth =
      (std::abs(force[0]) / d.grid.dx + std::abs(force[1]) / d.grid.dy) / k_advection_limit;
  // (rate + growth dt) dt = cfl
  const double driven = 2.0 * cfl / (rate + std::sqrt(rate * rate + 4.0 * growth * cfl));
  if (!flow.has_scalar()) return driven;
  // Pressure holds most of the buoyancy, so that this is not added to what already moves.
  const double rise = std::abs(flow.scalar_options().buoyancy) * totals.scalar_range;
  return std::min(driven, std::sqrt(cfl * k_advection_limit * smallest_height(d.grid) / rise));
}

}  // namespace octant::dns
