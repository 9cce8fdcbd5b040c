#include "dns/projection.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "dns/momentum.hpp"
#include "dns/operators.hpp"

namespace octant::dns {

namespace {

pencil::Box planes_of(const pencil::Box& box, int planes) {
  pencil::Box part = box;
  part.range[2].end = part.range[2].begin + planes;
  return part;
}

pencil::Box rows_of(const pencil::Box& box, int rows) {
  pencil::Box part = box;
  part.range[1].end = part.range[1].begin + rows;
  return part;
}

// One row of the pressure's update, with the Laplacian of the correction where diffusion is
// implicit.
struct PressureRows {
  const double *phi, *above, *below, *north, *south;
  double* p;
};

template <Diffusion diffusion>
void update_pressure_row(int n, const PressureRows& r, double up, double down, double xx,
                         double yy) {
  const double* phi = r.phi;
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) {
    const double c = phi[i];
    double change = c;
    if constexpr (diffusion != Diffusion::explicit_all)
      change += up * (r.above[i] - c) - down * (c - r.below[i]);
    if constexpr (diffusion == Diffusion::implicit_all)
      change += xx * (phi[i + 1] + phi[i - 1] - 2.0 * c) + yy * (r.north[i] + r.south[i] - 2.0 * c);
    r.p[i] += change;
  }
}

// velocity - factor (next - phi) + push; `result` may be where the velocity is.
void correct_row(int n, const double* velocity, const double* phi, const double* next,
                 double factor, double push, double* result) {
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) result[i] = velocity[i] - factor * (next[i] - phi[i]) + push;
}

// Planes of the correction that are kept at either end of a rank's planes, and in between.
constexpr int k_at_end = 2, k_rolling = 3;

}  // namespace

Projection::Projection(const Domain& domain, const Ghosts& ghosts,
                       const pencil::PoissonOptions& options, Diffusion diffusion)
    : domain_(domain),
      ghosts_(ghosts),
      diffusion_(diffusion),
      south_is_late_(domain.is_cut(1) && !domain.ends(1, 0)),
      north_is_late_(domain.is_cut(1) && !domain.ends(1, 1)),
      below_is_late_(!domain.ends(2, 0)),
      above_is_late_(!domain.ends(2, 1)),
      keeps_all_(domain.nz <= 2 * k_at_end + k_rolling ||
                 (domain.is_cut(1) && diffusion == Diffusion::implicit_all)),
      has_edges_(domain.is_cut(1) && !keeps_all_),
      solver_(domain.pencils, pressure_problem(domain.grid, domain.boundaries), options),
      phi_(keeps_all_ ? domain.box : planes_of(domain.box, 2 * k_at_end + k_rolling)),
      edges_(has_edges_ ? rows_of(domain.box, 2) : pencil::Box{}),
      rhs_(planes_of(domain.box, 1)) {
  const bool first_is_late = below_is_late_ && diffusion == Diffusion::explicit_all;
  OCTANT_REQUIRE(!first_is_late || solver_.first_may_be_last(),
                 "this solver of lines along z cannot wait for the first plane");
}

int Projection::slot(int k) const {
  if (keeps_all_ || k < k_at_end) return k;
  const int from_top = domain_.nz - k;
  if (from_top <= k_at_end) return 2 * k_at_end + k_rolling - from_top;
  return k_at_end + k % k_rolling;
}

void Projection::divergence(const State& state, int k, int slide, double gamma_dt,
                            pencil::Range rows) {
  const double cx = 1.0 / (gamma_dt * domain_.grid.dx), cy = 1.0 / (gamma_dt * domain_.grid.dy);
  const double cz = 1.0 / (gamma_dt * domain_.dz_cell[k]);
  const std::ptrdiff_t row = state.v.row_stride(), plane = state.w.plane_stride();
  for (int j = rows.begin; j < rows.end; ++j) {
    const double *u = state.u.row(k, j, slide), *v = state.v.row(k, j, slide),
                 *w = state.w.row(k, j, slide), *south = v - row, *bottom = w - plane;
    double* d = rhs_.row(0, j);
#pragma GCC ivdep
    for (int i = 0; i < domain_.nx; ++i)
      d[i] = cx * (u[i] - u[i - 1]) + cy * (v[i] - south[i]) + cz * (w[i] - bottom[i]);
  }
  solver_.transform_rows(k, rows, rhs_.row(0, rows.begin), rhs_.row_stride());
}

void Projection::forward(const State& state, int k, int slide, double gamma_dt) {
  if (k == 0 && below_is_late_) return;
  divergence(state, k, slide, gamma_dt, {south_is_late_ ? 1 : 0, domain_.ny});
  solver_.forward(k);
}

void Projection::forward_late(const State& state, int slide, double gamma_dt) {
  if (south_is_late_)
    for (int k = below_is_late_ ? 1 : 0; k < domain_.nz; ++k)
      divergence(state, k, slide, gamma_dt, {0, 1});
  if (!below_is_late_) return;
  divergence(state, 0, slide, gamma_dt, {0, domain_.ny});
  solver_.forward(0);
}

void Projection::backward(int k) {
  solver_.backward(k, row(k, 0), phi_.row_stride());
  for (int j = 0; j < domain_.ny; ++j) ghosts_.fill_x(k_pressure, row(k, j));
  ghosts_.fill_y(k_pressure, phi_, slot(k));
  if (has_edges_) {
    std::copy_n(row(k, 0), domain_.nx, edges_.row(k, 0));
    std::copy_n(row(k, domain_.ny - 1), domain_.nx, edges_.row(k, 1));
  }
  if (k == 0 && !below_is_late_) fill_side(0);
  if (k == domain_.nz - 1 && !above_is_late_) fill_side(1);
}

// The plane beyond a boundary.
void Projection::fill_side(int end) {
  const int inside = end == 0 ? 0 : domain_.nz - 1, ghost = end == 0 ? -1 : domain_.nz;
  const double factor = domain_.boundaries.of_pressure(2, end) == Condition::dirichlet ? -1.0 : 1.0;
  for (int j = -1; j <= domain_.ny; ++j) {
    const double* from = row(inside, j);
    double* to = row(ghost, j);
    for (int i = -1; i <= domain_.nx; ++i) to[i] = factor * from[i];
  }
}

void Projection::fill_ghosts(Ghosts& ghosts) {
  if (domain_.is_cut(1)) ghosts.exchange_y(has_edges_ ? edges_ : phi_);
  ghosts.exchange_z(phi_);
}

void Projection::correct(State& state, int k, int slide, const Step& step) {
  correct_rows(state, k, slide, step, false);
}

void Projection::correct_late(State& state, int k, const Step& step) {
  const bool at_end = (k == 0 && below_is_late_) || (k == domain_.nz - 1 && above_is_late_);
  if (at_end || south_is_late_ || north_is_late_) correct_rows(state, k, 0, step, true);
}

void Projection::correct_rows(State& state, int k, int slide, const Step& step, bool late) {
  const int nx = domain_.nx, ny = domain_.ny;
  const double cx = step.gamma_dt / domain_.grid.dx, cy = step.gamma_dt / domain_.grid.dy;
  const double cz = step.gamma_dt / domain_.dz_face[k];
  const double push_u = step.forced == k_u ? step.forcing : 0.0;
  const double push_v = step.forced == k_v ? step.forcing : 0.0;
  const bool above_is_late = above_is_late_ && k == domain_.nz - 1;
  const bool plane_is_late =
      diffusion_ != Diffusion::explicit_all && (above_is_late || (below_is_late_ && k == 0));
  for (int j = 0; j < ny; ++j) {
    const bool north_is_late = north_is_late_ && j == ny - 1;
    const bool row_is_late =
        diffusion_ == Diffusion::implicit_all && (north_is_late || (south_is_late_ && j == 0));
    if (late && !(above_is_late || plane_is_late || north_is_late || row_is_late)) continue;
    const double* phi = row(k, j);
    const double *us = state.u.row(k, j, slide), *vs = state.v.row(k, j, slide),
                 *ws = state.w.row(k, j, slide);
    double *u = state.u.row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j);
    if (!late) correct_row(nx, us, phi, phi + 1, cx, push_u, u);
    if (north_is_late && late && has_edges_)
      correct_row(nx, vs, edges_.row(k, 1), edges_.row(k, 2), cy, push_v, v);
    else if (north_is_late == late) correct_row(nx, vs, phi, row(k, j + 1), cy, push_v, v);
    else if (vs != v) std::copy_n(vs, nx, v);
    if (above_is_late == late) correct_row(nx, ws, phi, row(k + 1, j), cz, 0.0, w);
    else if (ws != w) std::copy_n(ws, nx, w);
    if ((plane_is_late || row_is_late) == late) update_pressure(state, k, j, step);
    ghosts_.fill_x(k_u, u);
    ghosts_.fill_x(k_v, v);
    ghosts_.fill_x(k_w, w);
    ghosts_.fill_x(k_pressure, state.p.row(k, j));
  }
}

void Projection::update_pressure(State& state, int k, int j, const Step& step) {
  const double up = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k]);
  const double down = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k - 1]);
  const double xx = step.implicit_xy / (domain_.grid.dx * domain_.grid.dx);
  const double yy = step.implicit_xy / (domain_.grid.dy * domain_.grid.dy);
  const PressureRows rows{row(k, j),     row(k + 1, j), row(k - 1, j),
                          row(k, j + 1), row(k, j - 1), state.p.row(k, j)};
  switch (diffusion_) {
    case Diffusion::explicit_all:
      return update_pressure_row<Diffusion::explicit_all>(domain_.nx, rows, up, down, xx, yy);
    case Diffusion::implicit_z:
      return update_pressure_row<Diffusion::implicit_z>(domain_.nx, rows, up, down, xx, yy);
    case Diffusion::implicit_all:
      return update_pressure_row<Diffusion::implicit_all>(domain_.nx, rows, up, down, xx, yy);
  }
}

}  // namespace octant::dns
