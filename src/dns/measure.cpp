#include "dns/measure.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace octant::dns {

namespace {

constexpr int k_lanes = 8;

// Extremes of a row, lane by lane so that a row takes the machine's vectors.
struct RowExtremes {
  double speed[k_components][k_lanes] = {};
  double divergence[k_lanes] = {}, rate[k_lanes] = {};
};

double larger(double a, double b) { return a < b ? b : a; }

struct Rows {
  const double *u, *v, *w, *south, *bottom;
};

inline void take_speeds(RowExtremes& e, int l, const Rows& r, int i, double xi, double yi,
                        double zi) {
  const double u = std::abs(r.u[i]), v = std::abs(r.v[i]), w = std::abs(r.w[i]);
  e.speed[k_u][l] = larger(e.speed[k_u][l], u);
  e.speed[k_v][l] = larger(e.speed[k_v][l], v);
  e.speed[k_w][l] = larger(e.speed[k_w][l], w);
  e.rate[l] = larger(e.rate[l], xi * u + yi * v + zi * w);
}

inline void take(RowExtremes& e, int l, const Rows& r, int i, double xi, double yi, double zi) {
  take_speeds(e, l, r, i, xi, yi, zi);
  const double divergence =
      xi * (r.u[i] - r.u[i - 1]) + yi * (r.v[i] - r.south[i]) + zi * (r.w[i] - r.bottom[i]);
  e.divergence[l] = larger(e.divergence[l], std::abs(divergence));
}

void take_row(RowExtremes& e, const Rows& rows, int n, double xi, double yi, double zi) {
  int i = 0;
  for (; i + k_lanes <= n; i += k_lanes)
    for (int l = 0; l < k_lanes; ++l) take(e, l, rows, i + l, xi, yi, zi);
  for (int l = 0; i < n; ++i, ++l) take(e, l, rows, i, xi, yi, zi);
}

// The lower faces of row (k, j) that lie where fluid leaves the domain, each beside the upper faces
// along the other axes.
void take_lower_faces(RowExtremes& e, const Domain& d, int k, int j, const Rows& rows, double xi,
                      double yi, double zi) {
  const auto& [u, v, w, south, bottom] = rows;
  if (d.first(k_u, 0) < 0) take_speeds(e, 0, {u - 1, v, w, south, bottom}, 0, xi, yi, zi);
  for (int i = 0; j == 0 && d.first(k_v, 1) < 0 && i < d.nx; ++i)
    take_speeds(e, 0, {u, south, w, south, bottom}, i, xi, yi, zi);
  for (int i = 0; k == 0 && d.first(k_w, 2) < 0 && i < d.nx; ++i)
    take_speeds(e, 0, {u, v, bottom, south, bottom}, i, xi, yi, zi);
}

double row_sum_of_squares(const double* values, int n) {
  double sums[k_lanes] = {};
  int i = 0;
  for (; i + k_lanes <= n; i += k_lanes)
    for (int l = 0; l < k_lanes; ++l) sums[l] += values[i + l] * values[i + l];
  for (int l = 0; i < n; ++i, ++l) sums[l] += values[i] * values[i];
  return row_sum(sums, k_lanes);
}

double largest_of(const double (&lanes)[k_lanes]) { return *std::max_element(lanes, lanes + 8); }

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

// The sum of dq/dz at a side along z over this rank's cells.
void add_wall_gradient(const Domain& d, const Field& u, int end, ReproducibleSum& sum) {
  if (!d.ends(2, end)) return;
  const int inside = end == 0 ? 0 : d.nz - 1, ghost = end == 0 ? -1 : d.nz;
  const double spacing = end == 0 ? -d.dz_face[-1] : d.dz_face[d.nz - 1];
  for (int j = 0; j < d.ny; ++j)
    sum += (row_sum(u.row(ghost, j), d.nx) - row_sum(u.row(inside, j), d.nx)) / spacing;
}

enum Sum { k_mean = 0, k_kinetic = 3, k_shear = 6, k_scalar_mean = 8, k_flux = 9, k_sums = 11 };

}  // namespace

Totals measure(const Flow& flow) {
  const Domain& d = flow.domain();
  const State& s = flow.state();
  std::array<ReproducibleSum, k_sums> sums;
  RowExtremes extremes;
  const Scalar* scalar = flow.scalar();
  const std::ptrdiff_t row = s.v.row_stride(), plane = s.w.plane_stride();
  const double xi = 1.0 / d.grid.dx, yi = 1.0 / d.grid.dy;
  for (int k = 0; k < d.nz; ++k) {
    const double height[k_components] = {d.dz_cell[k], d.dz_cell[k], d.dz_face[k]};
    for (int j = 0; j < d.ny; ++j) {
      const double *u = s.u.row(k, j), *v = s.v.row(k, j), *w = s.w.row(k, j);
      const Rows rows{u, v, w, v - row, w - plane};
      take_row(extremes, rows, d.nx, xi, yi, 1.0 / d.dz_cell[k]);
      take_lower_faces(extremes, d, k, j, rows, xi, yi, 1.0 / d.dz_cell[k]);
      if (scalar != nullptr)
        sums[k_scalar_mean] += height[0] * row_sum(scalar->field().row(k, j), d.nx);
      const double* components[] = {u, v, w};
      for (int c = 0; c < k_components; ++c) {
        sums[k_mean + c] += height[c] * row_sum(components[c], d.nx);
        sums[k_kinetic + c] += height[c] * row_sum_of_squares(components[c], d.nx);
      }
    }
  }
  for (int end = 0; end < 2; ++end) {
    add_wall_gradient(d, s.u, end, sums[k_shear + end]);
    if (scalar != nullptr) add_wall_gradient(d, scalar->field(), end, sums[k_flux + end]);
  }
  const Communicator& communicator = d.pencils.communicator();
  reproducible_sum(communicator, sums);

  Totals t;
  const double share = d.grid.dx * d.grid.dy / d.grid.volume();
  for (int c = 0; c < k_components; ++c) {
    t.mean[c] = sums[k_mean + c].to_double() * share;
    t.kinetic[c] = 0.5 * sums[k_kinetic + c].to_double() * share;
    t.largest[c] = largest_of(extremes.speed[c]);
  }
  if (!std::isfinite(t.kinetic_energy())) {
    const std::string cell = broken_cell(d, s);
    communicator.agree([&] {
      if (!cell.empty()) throw RunError("the flow has broken down: {}", cell);
    });
    throw RunError("the flow has broken down: its kinetic energy is {}", t.kinetic_energy());
  }
  const double columns = static_cast<double>(d.grid.cells[0]) * d.grid.cells[1];
  t.scalar_mean = sums[k_scalar_mean].to_double() * share;
  for (int end = 0; end < 2; ++end) {
    t.wall_shear[end] = flow.parameters().viscosity * sums[k_shear + end].to_double() / columns;
    if (scalar != nullptr)
      t.scalar_flux[end] =
          -scalar->options().diffusivity * sums[k_flux + end].to_double() / columns;
  }
  double largest[] = {t.largest[0], t.largest[1], t.largest[2], largest_of(extremes.divergence),
                      largest_of(extremes.rate)};
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
  if (flow.scalar() != nullptr)
    diffusivity = std::max(diffusivity, flow.scalar()->options().diffusivity);
  const double explicit_rate =
      totals.advection_rate / std::sqrt(3.0) + 4.0 * diffusivity * inverse_squares / 2.51;
  return cfl / explicit_rate;  // infinite for a fluid at rest with implicit diffusion
}

}  // namespace octant::dns
