#include "dns/measure.hpp"

#include <algorithm>
#include <cmath>

#include "comm/reproducible_sum.hpp"
#include "core/error.hpp"

namespace octant::dns {

namespace {

double larger(double a, double b) { return a < b ? b : a; }

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

// Adds up (outside - inside) / spacing over the rows at a side along z, of a figure of rows.
template <class Figure>
void add_wall_gradient(const Domain& d, const MeasuredRows& rows, int end, const Figure& figure,
                       ReproducibleSum& sum) {
  if (!d.ends(2, end)) return;
  const int inside = end == 0 ? 0 : d.nz - 1, ghost = end == 0 ? -1 : d.nz;
  const double spacing = end == 0 ? -d.dz_face[-1] : d.dz_face[d.nz - 1];
  for (int j = 0; j < d.ny; ++j)
    sum += (figure(rows(ghost, j)) - figure(rows(inside, j))) / spacing;
}

enum Sum { k_mean = 0, k_kinetic = 3, k_shear = 6, k_scalar_mean = 8, k_flux = 9, k_sums = 11 };

}  // namespace

Totals measure(const Flow& flow) {
  const Domain& d = flow.domain();
  const MeasuredRows rows = flow.measure_rows();
  std::array<ReproducibleSum, k_sums> sums;
  Totals t;
  for (int k = 0; k < d.nz; ++k) {
    const double height[k_components] = {d.dz_cell[k], d.dz_cell[k], d.dz_face[k]};
    for (int j = 0; j < d.ny; ++j) {
      const RowFigures& row = rows(k, j);
      for (int c = 0; c < k_components; ++c) {
        sums[k_mean + c] += height[c] * row.sum[c];
        sums[k_kinetic + c] += height[c] * row.squares[c];
        t.largest[c] = larger(t.largest[c], row.largest[c]);
      }
      if (flow.has_scalar()) sums[k_scalar_mean] += height[0] * row.scalar;
      t.divergence = larger(t.divergence, row.divergence);
      t.advection_rate = larger(t.advection_rate, row.rate);
    }
  }
  for (int end = 0; end < 2; ++end) {
    add_wall_gradient(
        d, rows, end, [](const RowFigures& row) { return row.sum[k_u]; }, sums[k_shear + end]);
    if (flow.has_scalar())
      add_wall_gradient(
          d, rows, end, [](const RowFigures& row) { return row.scalar; }, sums[k_flux + end]);
  }
  const Communicator& communicator = d.pencils.communicator();
  reproducible_sum(communicator, sums);

  const double share = d.grid.dx * d.grid.dy / d.grid.volume();
  for (int c = 0; c < k_components; ++c) {
    t.mean[c] = sums[k_mean + c].to_double() * share;
    t.kinetic[c] = 0.5 * sums[k_kinetic + c].to_double() * share;
  }
  if (!std::isfinite(t.kinetic_energy())) {
    const std::string cell = broken_cell(d, flow.state());
    communicator.agree([&] {
      if (!cell.empty()) throw RunError("the flow has broken down: {}", cell);
    });
    throw RunError("the flow has broken down: its kinetic energy is {}", t.kinetic_energy());
  }
  const double columns = static_cast<double>(d.grid.cells[0]) * d.grid.cells[1];
  t.scalar_mean = sums[k_scalar_mean].to_double() * share;
  for (int end = 0; end < 2; ++end) {
    t.wall_shear[end] = flow.parameters().viscosity * sums[k_shear + end].to_double() / columns;
    if (flow.has_scalar())
      t.scalar_flux[end] =
          -flow.scalar_options().diffusivity * sums[k_flux + end].to_double() / columns;
  }
  double largest[] = {t.largest[0], t.largest[1], t.largest[2], t.divergence, t.advection_rate};
  communicator.max_in_place(std::span<double>(largest));
  t.largest = {largest[0], largest[1], largest[2]};
  t.divergence = largest[3];
  t.advection_rate = largest[4];
  if (t.advection_rate > 0.0) t.scaled_divergence = t.divergence / t.advection_rate;
  return t;
}

double stable_step(const Flow& flow, const Totals& totals, double cfl) {
  const Domain& d = flow.domain();
  const Diffusion diffusion = flow.parameters().diffusion_kind();
  double inverse_squares = 0.0;
  if (diffusion != Diffusion::implicit_all)
    inverse_squares += 1.0 / (d.grid.dx * d.grid.dx) + 1.0 / (d.grid.dy * d.grid.dy);
  if (diffusion == Diffusion::explicit_all) {
    double smallest = d.grid.dz_cell[0];
    for (int k = 0; k < d.grid.cells[2]; ++k) smallest = std::min(smallest, d.grid.dz_cell[k]);
    inverse_squares += 1.0 / (smallest * smallest);
  }
  double diffusivity = flow.parameters().viscosity;
  if (flow.has_scalar()) diffusivity = std::max(diffusivity, flow.scalar_options().diffusivity);
  const double explicit_rate =
      totals.advection_rate / std::sqrt(3.0) + 4.0 * diffusivity * inverse_squares / 2.51;
  return cfl / explicit_rate;  // infinite for a fluid at rest with implicit diffusion
}

}  // namespace octant::dns
