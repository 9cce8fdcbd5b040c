#include "dns/sudden_walls.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "dns/ghosts.hpp"

namespace octant::dns {

namespace {

// The largest absolute values beside one side.
enum Contrast { k_jump, k_difference, k_magnitude, k_contrasts };
using Contrasts = std::array<double, k_contrasts>;

// Distances along an axis: from a side to the centres of the cells beside it, and between those of
// the first two cells.
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
  constexpr double k_most_differences = 3.0, k_rounding = 1e-10;
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
    return c[k_jump] > k_most_differences * c[k_difference] &&
           c[k_jump] > k_rounding * c[k_magnitude];
  });
}

bool would_ring(const Flow& flow, double dt) {
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
