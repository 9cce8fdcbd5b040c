#include "dns/measure.hpp"

#include <algorithm>
#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"

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
      if (!cell.empty()) throw RunError("the flow has broken down: {}", cell);
    });
    throw RunError("the flow has broken down: its kinetic energy is {}", t.kinetic_energy());
  }
  const double columns = static_cast<double>(d.grid.cells[0]) * d.grid.cells[1];
  t.scalar_mean = total(k_sum_scalar) * share;
  for (int end = 0; end < 2; ++end) {
    t.wall_shear[end] = flow.parameters().viscosity * total(k_sum_shear + end) / columns;
    if (flow.has_scalar())
      t.scalar_flux[end] = -flow.scalar_options().diffusivity * total(k_sum_flux + end) / columns;
  }
  double largest[] = {figures.largest[0], figures.largest[1], figures.largest[2],
                      figures.divergence, figures.rate,       figures.warmest,
                      -figures.coldest};
  communicator.max_in_place(std::span<double>(largest));
  t.largest = {largest[0], largest[1], largest[2]};
  t.divergence = largest[3];
  t.advection_rate = largest[4];
  if (flow.has_scalar())
    t.scalar_range =
        range_with_sides(flow.scalar_options().sides(d.boundaries), -largest[6], largest[5]);
  if (t.advection_rate > 0.0) t.scaled_divergence = t.divergence / t.advection_rate;
  return t;
}

}  // namespace octant::dns
