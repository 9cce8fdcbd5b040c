#include "dns/projection.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "dns/forcing.hpp"
#include "dns/operators.hpp"
#include "dns/projection_kernels.hpp"

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

// Planes of the correction that are kept at either end of a rank's planes, and in between.
constexpr int k_at_end = 2, k_rolling = 3;

}  // namespace

pencil::Sweep pressure_sweep(Diffusion diffusion) {
  return diffusion == Diffusion::explicit_all ? pencil::Sweep::up : pencil::Sweep::down;
}

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
      rhs_stride_((domain.nx + 15) / 16 * 16),
      rhs_(static_cast<std::size_t>(rhs_stride_) * (domain.ny + pencil::team_size())) {
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

void Projection::divergence(const Team& team, const State& state, int k, int slide, double gamma_dt,
                            Range rows, double* first) {
  const double cx = 1.0 / (gamma_dt * domain_.grid.dx), cy = 1.0 / (gamma_dt * domain_.grid.dy);
  const double cz = 1.0 / (gamma_dt * domain_.dz_cell[k]);
  const std::ptrdiff_t row = state.v.row_stride(), plane = state.w.plane_stride();
  double* d = first;
  for (int j = rows.begin; j < rows.end; ++j, d += rhs_stride_) {
    const double *u = state.u.row(k, j, slide), *v = state.v.row(k, j, slide),
                 *w = state.w.row(k, j, slide);
    for_each_cell(domain_.nx, Divergence{cx, cy, cz, u, v, v - row, w, w - plane, d});
  }
  solver_.transform_rows(team, k, rows, first, rhs_stride_);
}

void Projection::forward(const Team& team, const State& state, int k, int slide, double gamma_dt) {
  if (k == 0 && below_is_late_) return;
  const Range on_time{south_is_late_ ? 1 : 0, domain_.ny};
  const Range rows = pencil::intersection(team.share(domain_.ny), on_time);
  divergence(team, state, k, slide, gamma_dt, rows, rhs_row(rows.begin));
  solver_.forward(team, k);
}

void Projection::forward_late(const State& state, int slide, double gamma_dt) {
  if (!south_is_late_ && !below_is_late_) return;
  pencil::in_team("dns: late divergence", [&](const Team& team) {
    const Range planes = team.share({below_is_late_ ? 1 : 0, domain_.nz});
    if (south_is_late_)
      for (int k = planes.begin; k < planes.end; ++k)
        divergence(team, state, k, slide, gamma_dt, {0, 1}, rhs_row(domain_.ny + team.rank()));
    if (!below_is_late_) return;
    const Range rows = team.share(domain_.ny);
    divergence(team, state, 0, slide, gamma_dt, rows, rhs_row(rows.begin));
    solver_.forward(team, 0);
  });
}

void Projection::backward(const Team& team, int k) {
  solver_.backward(team, k, row(k, 0), phi_.row_stride());
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j) ghosts_.fill_x(k_pressure, row(k, j));
  team.barrier();
  for (const int end : {0, 1}) {
    const int j = end == 0 ? 0 : domain_.ny - 1;
    if (!own.contains(j)) continue;
    ghosts_.fill_y(k_pressure, phi_, slot(k), end);
    if (has_edges_) std::copy_n(row(k, j), domain_.nx, edges_.row(k, end));
  }
  if (k == 0 && !below_is_late_) fill_side(team, 0);
  if (k == domain_.nz - 1 && !above_is_late_) fill_side(team, 1);
}

// The plane beyond a boundary: this thread's rows, with their ghosts.
void Projection::fill_side(const Team& team, int end) {
  const int inside = end == 0 ? 0 : domain_.nz - 1, ghost = end == 0 ? -1 : domain_.nz;
  const double factor = domain_.boundaries.of_pressure(2, end) == Condition::dirichlet ? -1.0 : 1.0;
  Range rows = team.share(domain_.ny);
  if (rows.contains(0)) --rows.begin;
  if (rows.contains(domain_.ny - 1)) ++rows.end;
  for (int j = rows.begin; j < rows.end; ++j) {
    const double* from = row(inside, j);
    double* to = row(ghost, j);
    for (int i = -1; i <= domain_.nx; ++i) to[i] = factor * from[i];
  }
}

void Projection::fill_ghosts(Ghosts& ghosts) {
  if (domain_.is_cut(1)) ghosts.exchange_y(has_edges_ ? edges_ : phi_);
  ghosts.exchange_z(phi_);
}

void Projection::correct(const Team& team, State& state, int k, int slide, const Step& step) {
  const Range own = team.share(domain_.ny);
  correct_rows(state, k, own, slide, step, false);
  correct_lower_faces(state, k, own, slide, step.gamma_dt);
}

void Projection::correct_late(State& state, int k, const Step& step) {
  const bool at_end = (k == 0 && below_is_late_) || (k == domain_.nz - 1 && above_is_late_);
  if (at_end || south_is_late_ || north_is_late_)
    correct_rows(state, k, {0, domain_.ny}, 0, step, true);
}

void Projection::correct_rows(State& state, int k, Range rows, int slide, const Step& step,
                              bool late) {
  const int nx = domain_.nx, ny = domain_.ny;
  const double cx = step.gamma_dt / domain_.grid.dx, cy = step.gamma_dt / domain_.grid.dy;
  const double cz = step.gamma_dt / domain_.dz_face[k];
  const double push_u = step.forced == k_u ? step.forcing : 0.0;
  const double push_v = step.forced == k_v ? step.forcing : 0.0;
  const bool above_is_late = above_is_late_ && k == domain_.nz - 1;
  const bool plane_is_late =
      diffusion_ != Diffusion::explicit_all && (above_is_late || (below_is_late_ && k == 0));
  const auto correct_row = [nx](const double* velocity, const double* phi, const double* next,
                                double factor, double push, double* result) {
    for_each_cell(nx, VelocityCorrection{velocity, phi, next, factor, push, result});
  };
  for (int j = rows.begin; j < rows.end; ++j) {
    const bool north_is_late = north_is_late_ && j == ny - 1;
    const bool row_is_late =
        diffusion_ == Diffusion::implicit_all && (north_is_late || (south_is_late_ && j == 0));
    if (late && !(above_is_late || plane_is_late || north_is_late || row_is_late)) continue;
    const double* phi = row(k, j);
    const double *us = state.u.row(k, j, slide), *vs = state.v.row(k, j, slide),
                 *ws = state.w.row(k, j, slide);
    double *u = state.u.row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j);
    if (!late) correct_row(us, phi, phi + 1, cx, push_u, u);
    if (north_is_late && late && has_edges_)
      correct_row(vs, edges_.row(k, 1), edges_.row(k, 2), cy, push_v, v);
    else if (north_is_late == late) correct_row(vs, phi, row(k, j + 1), cy, push_v, v);
    else if (vs != v) std::copy_n(vs, nx, v);
    if (above_is_late == late) correct_row(ws, phi, row(k + 1, j), cz, 0.0, w);
    else if (ws != w) std::copy_n(ws, nx, w);
    if ((plane_is_late || row_is_late) == late) update_pressure(state, k, j, step);
    ghosts_.fill_x(k_u, u);
    ghosts_.fill_x(k_v, v);
    ghosts_.fill_x(k_w, w);
    ghosts_.fill_x(k_pressure, state.p.row(k, j));
  }
}

// Those of w take the place of the plane above, which has moved home.
void Projection::correct_lower_faces(State& state, int k, Range rows, int slide, double gamma_dt) {
  const int nx = domain_.nx;
  if (domain_.first(k_u, 0) < 0)
    for (int j = rows.begin; j < rows.end; ++j) {
      const double* phi = row(k, j);
      for_each_cell(1, VelocityCorrection{state.u.row(k, j, slide) - 1, phi - 1, phi,
                                          gamma_dt / domain_.grid.dx, 0.0, state.u.row(k, j) - 1});
    }
  if (domain_.first(k_v, 1) < 0 && rows.contains(0)) {
    double* v = state.v.row(k, -1);
    for_each_cell(nx, VelocityCorrection{state.v.row(k, -1, slide), row(k, -1), row(k, 0),
                                         gamma_dt / domain_.grid.dy, 0.0, v});
    ghosts_.fill_x(k_v, v);
  }
  if (domain_.first(k_w, 2) < 0 && k == 0)
    for (int j = rows.begin; j < rows.end; ++j) {
      double* w = state.w.row(-1, j);
      for_each_cell(nx, VelocityCorrection{state.w.row(-1, j, slide), row(-1, j), row(0, j),
                                           gamma_dt / domain_.dz_face[-1], 0.0, w});
      ghosts_.fill_x(k_w, w);
    }
}

void Projection::update_pressure(State& state, int k, int j, const Step& step) {
  const double up = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k]);
  const double down = step.implicit_z / (domain_.dz_cell[k] * domain_.dz_face[k - 1]);
  const double xx = step.implicit_xy / (domain_.grid.dx * domain_.grid.dx);
  const double yy = step.implicit_xy / (domain_.grid.dy * domain_.grid.dy);
  const PressureRows rows{row(k, j),
                          row(k + 1, j),
                          row(k - 1, j),
                          row(k, j + 1),
                          row(k, j - 1),
                          state.p.row(k, j),
                          up,
                          down,
                          xx,
                          yy};
  const int nx = domain_.nx;
  switch (diffusion_) {
    case Diffusion::explicit_all:
      return for_each_cell(nx, PressureUpdate<Diffusion::explicit_all>{rows});
    case Diffusion::implicit_z:
      return for_each_cell(nx, PressureUpdate<Diffusion::implicit_z>{rows});
    case Diffusion::implicit_all:
      return for_each_cell(nx, PressureUpdate<Diffusion::implicit_all>{rows});
  }
}

Projection::Step correction_step(const FlowParameters& parameters, const Stage& stage,
                                 double forcing) {
  const Diffusion diffusion = parameters.diffusion;
  const double half = -0.5 * parameters.viscosity * stage.gamma;
  return {.gamma_dt = stage.gamma,
          .implicit_z = diffusion != Diffusion::explicit_all ? half : 0.0,
          .implicit_xy = diffusion == Diffusion::implicit_all ? half : 0.0,
          .forced = kept_component(parameters),
          .forcing = forcing};
}

}  // namespace octant::dns
