#include "dns/projection.hpp"

#include <algorithm>
#include <array>

#include "dns/momentum.hpp"
#include "dns/operators.hpp"

namespace octant::dns {

namespace {

pencil::Box planes_of(const pencil::Box& box, int planes) {
  pencil::Box part = box;
  part.range[2].end = part.range[2].begin + planes;
  return part;
}

// One row of the pressure's update, with the Laplacian of the correction where diffusion is
// implicit.
struct PressureRows {
  const double *phi, *above, *below, *north, *south;
  double* p;
};

template <Diffusion diffusion>
void update_pressure(int n, const PressureRows& r, double up, double down, double xx, double yy) {
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

}  // namespace

Projection::Projection(const Domain& domain, const Ghosts& ghosts,
                       const pencil::PoissonOptions& options, bool keeps_all)
    : domain_(domain),
      ghosts_(ghosts),
      keeps_all_(keeps_all),
      solver_(domain.pencils, pressure_problem(domain.grid, domain.boundaries), options),
      phi_(keeps_all ? domain.box : planes_of(domain.box, 1)),
      rhs_(planes_of(domain.box, 1)) {}

void Projection::forward(const State& state, int k, int slide, double gamma_dt) {
  const double cx = 1.0 / (gamma_dt * domain_.grid.dx), cy = 1.0 / (gamma_dt * domain_.grid.dy);
  const double cz = 1.0 / (gamma_dt * domain_.dz_cell[k]);
  const std::ptrdiff_t row = state.v.row_stride(), plane = state.w.plane_stride();
  for (int j = 0; j < domain_.ny; ++j) {
    const double *u = state.u.row(k, j, slide), *v = state.v.row(k, j, slide),
                 *w = state.w.row(k, j, slide), *south = v - row, *bottom = w - plane;
    double* d = rhs_.row(0, j);
#pragma GCC ivdep
    for (int i = 0; i < domain_.nx; ++i)
      d[i] = cx * (u[i] - u[i - 1]) + cy * (v[i] - south[i]) + cz * (w[i] - bottom[i]);
  }
  solver_.forward(k, rhs_.row(0, 0), rhs_.row_stride());
}

void Projection::fill_plane(int k) {
  for (int j = 0; j < domain_.ny; ++j) ghosts_.fill_x(k_pressure, row(k, j));
  ghosts_.fill_y(k_pressure, phi_, keeps_all_ ? k : (k + 4) % 3 - 1);
}

void Projection::fill_side(int end) {
  const int inside = end == 0 ? 0 : domain_.nz - 1, ghost = end == 0 ? -1 : domain_.nz;
  const double factor = domain_.boundaries.of_pressure(2, end) == Condition::dirichlet ? -1.0 : 1.0;
  for (int j = -1; j <= domain_.ny; ++j) {
    const double* from = row(inside, j);
    double* to = row(ghost, j);
    for (int i = -1; i <= domain_.nx; ++i) to[i] = factor * from[i];
  }
}

void Projection::fill_all(Ghosts& ghosts) {
  const Ghosted all[] = {{&phi_, k_pressure}};
  ghosts.fill(all);
}

void Projection::correct(State& state, int k, int slide, const Step& step) {
  const int nx = domain_.nx;
  const double cx = step.gamma_dt / domain_.grid.dx, cy = step.gamma_dt / domain_.grid.dy;
  const double cz = step.gamma_dt / domain_.dz_face[k];
  const double up = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k]);
  const double down = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k - 1]);
  const double xx = step.implicit_xy / (domain_.grid.dx * domain_.grid.dx);
  const double yy = step.implicit_xy / (domain_.grid.dy * domain_.grid.dy);
  const double push_u = step.forced == k_u ? step.forcing : 0.0;
  const double push_v = step.forced == k_v ? step.forcing : 0.0;
  const std::ptrdiff_t row_stride = phi_.row_stride();
  for (int j = 0; j < domain_.ny; ++j) {
    const double *phi = row(k, j), *above = row(k + 1, j), *below = row(k - 1, j);
    const double *north = phi + row_stride, *south = phi - row_stride;
    const double *us = state.u.row(k, j, slide), *vs = state.v.row(k, j, slide),
                 *ws = state.w.row(k, j, slide);
    double *u = state.u.row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j),
           *p = state.p.row(k, j);
#pragma GCC ivdep
    for (int i = 0; i < nx; ++i) {
      const double c = phi[i];
      u[i] = us[i] - cx * (phi[i + 1] - c) + push_u;
      v[i] = vs[i] - cy * (north[i] - c) + push_v;
      w[i] = ws[i] - cz * (above[i] - c);
    }
    const PressureRows rows{phi, above, below, north, south, p};
    if (step.implicit_xy != 0.0)
      update_pressure<Diffusion::implicit_all>(nx, rows, up, down, xx, yy);
    else if (step.implicit_z != 0.0)
      update_pressure<Diffusion::implicit_z>(nx, rows, up, down, xx, yy);
    else update_pressure<Diffusion::explicit_all>(nx, rows, up, down, xx, yy);
    ghosts_.fill_x(k_u, u);
    ghosts_.fill_x(k_v, v);
    ghosts_.fill_x(k_w, w);
    ghosts_.fill_x(k_pressure, p);
  }
}

}  // namespace octant::dns
