#include "dns/projection.hpp"

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "dns/forcing.hpp"
#include "dns/kernels.hpp"
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

// Numbers of planes of the correction that are stored at each end of a rank's planes, and in
// between.
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
      south_is_deferred_(domain.is_cut(1) && !domain.ends(1, 0)),
      north_is_deferred_(domain.is_cut(1) && !domain.ends(1, 1)),
      below_is_deferred_(!domain.ends(2, 0)),
      above_is_deferred_(!domain.ends(2, 1)),
      keeps_all_(domain.nz <= 2 * k_at_end + k_rolling ||
                 (domain.is_cut(1) && diffusion == Diffusion::implicit_all)),
      has_edges_(domain.is_cut(1) && !keeps_all_),
      solver_(domain.pencils, pressure_problem(domain.grid, domain.boundaries), options),
      phi_(keeps_all_ ? domain.box : planes_of(domain.box, 2 * k_at_end + k_rolling)),
      edges_(has_edges_ ? rows_of(domain.box, 2) : pencil::Box{}),
      rhs_stride_((domain.nx + 15) / 16 * 16),
      rhs_(static_cast<std::size_t>(rhs_stride_) * (domain.ny + pencil::team_size())) {
  const bool first_is_deferred = below_is_deferred_ && diffusion == Diffusion::explicit_all;
  OCTANT_REQUIRE(!first_is_deferred || solver_.first_may_be_last(),
                 "this tridiagonal solver cannot defer the first plane");
  list_deferred_tasks();
}

// Returns the parts of a row whose correction needs other ranks. A v face needs phi in the cell to
// the north, a w face needs phi in the cell above. The pressure needs both neighbours along an axis
// with implicit diffusion.
unsigned Projection::waiting(int k, int j) const {
  const bool above = above_is_deferred_ && k == domain_.nz - 1,
             below = below_is_deferred_ && k == 0;
  const bool north = north_is_deferred_ && j == domain_.ny - 1,
             south = south_is_deferred_ && j == 0;
  const bool along_z = diffusion_ != Diffusion::explicit_all && (above || below);
  const bool along_y = diffusion_ == Diffusion::implicit_all && (north || south);
  return (north ? part_v : 0U) | (above ? part_w : 0U) | (along_z || along_y ? part_p : 0U);
}

void Projection::list_deferred_tasks() {
  for (int k = 0; k < domain_.nz; ++k)
    for (int j = 0; j < domain_.ny; ++j) {
      if ((below_is_deferred_ && k == 0) || (south_is_deferred_ && j == 0))
        deferred_divergences_.push_back({k, j});
      if (const unsigned parts = waiting(k, j)) deferred_corrections_.push_back({k, j, parts});
    }
}

int Projection::slot(int k) const {
  if (keeps_all_ || k < k_at_end) return k;
  const int from_top = domain_.nz - k;
  if (from_top <= k_at_end) return 2 * k_at_end + k_rolling - from_top;
  return k_at_end + k % k_rolling;
}

void Projection::divergence(const Team& team, const State& state, int k, int plane_offset,
                            double gamma_dt, Range rows, double* first) {
  const double cx = 1.0 / (gamma_dt * domain_.grid.dx), cy = 1.0 / (gamma_dt * domain_.grid.dy);
  const double cz = 1.0 / (gamma_dt * domain_.dz_cell[k]);
  const std::ptrdiff_t row = state.v.row_stride(), plane = state.w.plane_stride();
  double* d = first;
  for (int j = rows.begin; j < rows.end; ++j, d += rhs_stride_) {
    const double *u = state.u.row(k, j, plane_offset), *v = state.v.row(k, j, plane_offset),
                 *w = state.w.row(k, j, plane_offset);
    for_each_cell(domain_.nx, Divergence{cx, cy, cz, u, v, v - row, w, w - plane, d});
  }
  solver_.transform_rows(team, k, rows, first, rhs_stride_);
}

// Sets the predicted velocity on boundary faces, and the lower ghosts along periodic x and y.
void Projection::close(const Team& team, State& state, int k, int plane_offset) {
  const Range own = team.share(domain_.ny);
  if (k == 0) ghosts_.close_z(state.w, 0, plane_offset, own);
  if (k == domain_.nz - 1) ghosts_.close_z(state.w, 1, plane_offset, own);
  for (int j = own.begin; j < own.end; ++j) ghosts_.close_x(state.u, k, j, plane_offset);
  team.barrier();
  if (own.contains(0)) ghosts_.close_y(state.v, k, plane_offset, 0);
  if (own.contains(domain_.ny - 1)) ghosts_.close_y(state.v, k, plane_offset, 1);
}

void Projection::forward(const Team& team, State& state, int k, int plane_offset, double gamma_dt) {
  close(team, state, k, plane_offset);
  if (k == 0 && below_is_deferred_) return;
  const Range undeferred{south_is_deferred_ ? 1 : 0, domain_.ny};
  const Range rows = pencil::intersection(team.share(domain_.ny), undeferred);
  divergence(team, state, k, plane_offset, gamma_dt, rows, rhs_row(rows.begin));
  solver_.forward(team, k);
}

void Projection::forward_deferred(const State& state, int plane_offset, double gamma_dt) {
  if (deferred_divergences_.empty()) return;
  pencil::in_team("dns: deferred divergence", [&](const Team& team) {
    const Range own = team.share(static_cast<int>(deferred_divergences_.size()));
    for (int n = own.begin; n < own.end; ++n) {
      const auto [k, j] = deferred_divergences_[n];
      divergence(team, state, k, plane_offset, gamma_dt, {j, j + 1},
                 rhs_row(domain_.ny + team.rank()));
    }
    if (below_is_deferred_) solver_.forward(team, 0);
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
  if (k == 0 && !below_is_deferred_) fill_side(team, 0);
  if (k == domain_.nz - 1 && !above_is_deferred_) fill_side(team, 1);
}

// Fills the ghost plane of phi beyond a boundary, in this thread's rows including their ghosts.
void Projection::fill_side(const Team& team, int end) {
  const int inside = end == 0 ? 0 : domain_.nz - 1, ghost = end == 0 ? -1 : domain_.nz;
  const double factor =
      domain_.boundaries.pressure_condition(2, end) == Condition::dirichlet ? -1.0 : 1.0;
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

void Projection::correct(const Team& team, State& state, int k, int plane_offset,
                         const CorrectionStep& step) {
  const Range own = team.share(domain_.ny);
  for (int j = own.begin; j < own.end; ++j)
    correct(state, {k, j, all_parts & ~waiting(k, j)}, plane_offset, step);
  correct_lower_faces(state, k, own, plane_offset, step.gamma_dt);
}

void Projection::correct(State& state, const RowTask& task, int plane_offset,
                         const CorrectionStep& step) {
  const auto [k, j, parts] = task;
  const int nx = domain_.nx;
  // Parts that are not corrected are copied to plane offset 0.
  const auto correct_part = [&, parts = parts](Part part, const double* from, const double* phi,
                                               const double* next, double factor, double forcing,
                                               double* to) {
    if (parts & part) for_each_cell(nx, VelocityCorrection{from, phi, next, factor, forcing, to});
    else if (from != to) std::copy_n(from, nx, to);
  };
  const double* phi = row(k, j);
  const bool at_edge = has_edges_ && north_is_deferred_ && j == domain_.ny - 1;
  const double *v_phi = at_edge ? edges_.row(k, 1) : phi,
               *v_next = at_edge ? edges_.row(k, 2) : row(k, j + 1);
  double *u = state.u.row(k, j), *v = state.v.row(k, j), *w = state.w.row(k, j);
  correct_part(part_u, state.u.row(k, j, plane_offset), phi, phi + 1,
               step.gamma_dt / domain_.grid.dx, step.forced == k_u ? step.forcing : 0.0, u);
  correct_part(part_v, state.v.row(k, j, plane_offset), v_phi, v_next,
               step.gamma_dt / domain_.grid.dy, step.forced == k_v ? step.forcing : 0.0, v);
  correct_part(part_w, state.w.row(k, j, plane_offset), phi, row(k + 1, j),
               step.gamma_dt / domain_.dz_face[k], 0.0, w);
  if (parts & part_p) update_pressure(state, k, j, step);
  ghosts_.fill_x(k_u, u);
  ghosts_.fill_x(k_v, v);
  ghosts_.fill_x(k_w, w);
  ghosts_.fill_x(k_pressure, state.p.row(k, j));
}

// Corrects the faces on lower outflow sides. The w faces are written to the memory of plane 0 at
// plane offset -1, which has already been copied to plane offset 0.
void Projection::correct_lower_faces(State& state, int k, Range rows, int plane_offset,
                                     double gamma_dt) {
  const int nx = domain_.nx;
  if (domain_.first(k_u, 0) < 0)
    for (int j = rows.begin; j < rows.end; ++j) {
      const double* phi = row(k, j);
      for_each_cell(1, VelocityCorrection{state.u.row(k, j, plane_offset) - 1, phi - 1, phi,
                                          gamma_dt / domain_.grid.dx, 0.0, state.u.row(k, j) - 1});
    }
  if (domain_.first(k_v, 1) < 0 && rows.contains(0)) {
    double* v = state.v.row(k, -1);
    for_each_cell(nx, VelocityCorrection{state.v.row(k, -1, plane_offset), row(k, -1), row(k, 0),
                                         gamma_dt / domain_.grid.dy, 0.0, v});
    ghosts_.fill_x(k_v, v);
  }
  if (domain_.first(k_w, 2) < 0 && k == 0)
    for (int j = rows.begin; j < rows.end; ++j) {
      double* w = state.w.row(-1, j);
      for_each_cell(nx, VelocityCorrection{state.w.row(-1, j, plane_offset), row(-1, j), row(0, j),
                                           gamma_dt / domain_.dz_face[-1], 0.0, w});
      ghosts_.fill_x(k_w, w);
    }
}

void Projection::update_pressure(State& state, int k, int j, const CorrectionStep& step) {
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

CorrectionStep correction_step(const FlowParameters& parameters, const Stage& stage,
                               double forcing) {
  const Diffusion diffusion = parameters.diffusion;
  const double implicit = -stage.implicit * parameters.viscosity * stage.gamma;
  return {.gamma_dt = stage.gamma,
          .implicit_z = diffusion != Diffusion::explicit_all ? implicit : 0.0,
          .implicit_xy = diffusion == Diffusion::implicit_all ? implicit : 0.0,
          .forced = prescribed_mean_component(parameters),
          .forcing = forcing};
}

}  // namespace octant::dns
