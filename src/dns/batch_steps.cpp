#include "dns/batch_steps.hpp"

#include "core/observer.hpp"
#include "dns/kernel_launch.hpp"
#include "dns/kernels.hpp"
#include "dns/operators.hpp"

namespace octant::dns {

namespace {

// Fields that the prediction of one velocity component reads and writes.
struct Prediction {
  int component;
  VelocityViews velocity;
  FieldView pressure, rhs, result;
  std::ptrdiff_t ahead;            // stride along the component's axis
  const PlaneOperator* operators;  // by plane
  Stage stage;
};

template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
struct PredictRows {
  Prediction p;

  KOKKOS_FUNCTION MomentumCell<diffusion, read_rhs, keep_rhs> operator()(int k, int j) const {
    const auto& [u, v, w] = p.velocity;
    const std::ptrdiff_t row = u.row_stride, plane = u.plane_stride;
    const double *w_bottom = w.row(k - 1, j), *pressure = p.pressure.row(k, j);
    const VelocityRows at{u.row(k, j),     v.row(k, j), w.row(k, j),
                          v.row(k, j - 1), w_bottom,    w_bottom + row};
    const MomentumRows rows{p.velocity[p.component].row(k, j), pressure, pressure + p.ahead,
                            p.rhs.row(k, j), p.result.row(k, j)};
    return {row,     plane, p.operators[k], advecting_velocities(p.component, at, row, plane),
            p.stage, rows};
  }
};

template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
void launch(const Prediction& prediction, Extent unknowns) {
  // Cost: reads u, v, w and p, writes a component, and reads and writes right-hand sides.
  record_kernel_work(
      "dns: prediction", cells_of(unknowns),
      {8.0 * (5 + read_rhs + keep_rhs), operations_of_prediction(diffusion, read_rhs)});
  launch_cells("dns: prediction", unknowns, PredictRows<diffusion, read_rhs, keep_rhs>{prediction});
}

// Launches the prediction of Runge-Kutta stage n.
template <Diffusion diffusion>
void launch_stage(int n, const Prediction& prediction, Extent unknowns) {
  if (n == 0) launch<diffusion, false, true>(prediction, unknowns);
  else if (n + 1 < k_stages) launch<diffusion, true, true>(prediction, unknowns);
  else launch<diffusion, true, false>(prediction, unknowns);
}

}  // namespace

BatchMomentum::BatchMomentum(const Domain& domain, double viscosity, Diffusion diffusion,
                             const Vector& force)
    : domain_(domain), diffusion_(diffusion) {
  for (int c = 0; c < k_components; ++c) {
    rhs_.emplace_back(domain.box);
    PlaneTable<PlaneOperator>& table = operators_.emplace_back(domain.nz);
    for (int k = 0; k < domain.nz; ++k)
      table[k] = plane_operator(domain, viscosity, force[c], c, k);
    table.send();
  }
}

void BatchMomentum::predict(const VelocityViews& velocity, const FieldView& pressure, int n,
                            const Stage& stage, const VelocityViews& predicted) const {
  const std::ptrdiff_t ahead[] = {1, pressure.row_stride, pressure.plane_stride};
  for (int c = 0; c < k_components; ++c) {
    const Prediction prediction{
        c, velocity, pressure, rhs_[c].view(), predicted[c], ahead[c], operators_[c].data(), stage};
    const Extent unknowns{domain_.unknowns(c, 0), domain_.unknowns(c, 1), domain_.unknowns(c, 2)};
    switch (diffusion_) {
      case Diffusion::explicit_all:
        launch_stage<Diffusion::explicit_all>(n, prediction, unknowns);
        break;
      case Diffusion::implicit_z:
        launch_stage<Diffusion::implicit_z>(n, prediction, unknowns);
        break;
      case Diffusion::implicit_all:
        launch_stage<Diffusion::implicit_all>(n, prediction, unknowns);
        break;
    }
  }
}

BatchDiffusion::BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced,
                               const pencil::BatchedOptions& options)
    : domain_(domain),
      along_all_(diffusion == Diffusion::implicit_all),
      forced_(forced),
      forced_before_solve_(along_all_ && forced >= 0 &&
                           !(domain.boundaries.periodic(0) && domain.boundaries.periodic(1))) {
  const Grid& grid = domain.grid;
  for (int c = 0; c < k_components; ++c) {
    second_derivative_[c] = velocity_z_matrix(grid, domain.boundaries, c);
    if (along_all_)
      solvers_.emplace_back(domain.pencils, velocity_problem(grid, domain.boundaries, c), options);
    else lines_.emplace_back(domain.pencils, grid.cells[2], domain.boundaries.periodic(2), options);
  }
}

void BatchDiffusion::set_factor(double factor) {
  if (factor == factor_) return;
  factor_ = factor;
  for (int c = 0; c < k_components; ++c) {
    pencil::TridiagonalMatrix matrix = helmholtz(second_derivative_[c], -factor);
    if (c == forced_ && !forced_before_solve_) response_ = response_to_one(matrix);
    if (along_all_) {
      solvers_[c].set_operator(1.0, -factor);
    } else {
      append_identity_rows(matrix, domain_.grid.cells[2]);
      lines_[c].set_matrix(matrix);
    }
  }
}

void BatchDiffusion::solve(const VelocityViews& predicted, const Outflow<Place::device>& outflow,
                           double forcing_velocity) {
  for (int c = 0; c < k_components; ++c) {
    add_sources(predicted[c], outflow, c);
    if (forced_before_solve_ && c == forced_) add_to_cells(predicted[c], forcing_velocity);
    if (along_all_) solvers_[c].solve(predicted[c]);
    else lines_[c].solve(predicted[c]);
  }
}

// Adds boundary sources in the order of BoundarySources, so that results at edges are bitwise
// equal.
void BatchDiffusion::add_sources(const FieldView& field, const Outflow<Place::device>& outflow,
                                 int component) const {
  const FieldView unknowns =
      part_of(field, {0, domain_.unknowns(component, 0)}, {0, domain_.unknowns(component, 1)},
              {0, domain_.unknowns(component, 2)});
  for (int end = 0; end < 2; ++end) {
    for (int axis = 2; axis >= (along_all_ ? 0 : 2); --axis)
      add_beside(unknowns, axis, end, factor_ * boundary_source(domain_, component, axis, end));
    const FieldView& offset = outflow.offset(component, end);
    if (!offset.first || (component != k_w && !along_all_)) continue;
    const int at = end == 0 ? 0 : domain_.unknowns(component, component) - 1;
    add_cells(layers(field, component, {at, at + 1}), offset,
              factor_ * outflow_weight(domain_.grid, component, end));
  }
}

pencil::PoissonReport BatchDiffusion::report() const {
  pencil::PoissonReport sum;
  for (const pencil::BatchedPoisson& solver : solvers_) sum += solver.report();
  for (const pencil::BatchedTridiagonal& lines : lines_) sum.z += lines.traffic();
  return sum;
}

namespace {

struct DivergenceRows {
  VelocityViews predicted;
  FieldView result;
  double x, y;
  const double* z;  // by plane

  KOKKOS_FUNCTION Divergence operator()(int k, int j) const {
    const auto& [u, v, w] = predicted;
    return {x,
            y,
            z[k],
            u.row(k, j),
            v.row(k, j),
            v.row(k, j - 1),
            w.row(k, j),
            w.row(k - 1, j),
            result.row(k, j)};
  }
};

template <Diffusion diffusion>
struct CorrectedCell {
  VelocityCorrection u, v, w;
  PressureUpdate<diffusion> p;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(int i) const {
    u(i);
    v(i);
    w(i);
    p(i);
  }
};

struct Correction {
  VelocityViews predicted, velocity;
  FieldView phi, pressure;
  const PlaneCorrection* planes;
};

template <Diffusion diffusion>
struct CorrectedRows {
  Correction c;

  KOKKOS_FUNCTION CorrectedCell<diffusion> operator()(int k, int j) const {
    const PlaneCorrection& plane = c.planes[k];
    const auto& [us, vs, ws] = c.predicted;
    const auto& [u, v, w] = c.velocity;
    const double *phi = c.phi.row(k, j), *north = c.phi.row(k, j + 1), *above = c.phi.row(k + 1, j);
    return {{us.row(k, j), phi, phi + 1, plane.x, plane.forcing_u, u.row(k, j)},
            {vs.row(k, j), phi, north, plane.y, plane.forcing_v, v.row(k, j)},
            {ws.row(k, j), phi, above, plane.z, 0.0, w.row(k, j)},
            {{phi, above, c.phi.row(k - 1, j), north, c.phi.row(k, j - 1), c.pressure.row(k, j),
              plane.up, plane.down, plane.xx, plane.yy}}};
  }
};

template <Diffusion diffusion>
void launch(Extent cells, const Correction& correction) {
  // Cost: reads and writes velocity and pressure, and reads phi.
  record_kernel_work("dns: correction", cells_of(cells),
                     {72.0, operations_of_correction(diffusion)});
  launch_cells("dns: correction", cells, CorrectedRows<diffusion>{correction});
}

// Correction of faces on lower outflow sides; `phi` and `next` are on either side of the faces.
struct CorrectedFaces {
  FieldView predicted, phi, next, result;
  double factor;

  KOKKOS_FUNCTION VelocityCorrection operator()(int k, int j) const {
    return {predicted.row(k, j), phi.row(k, j), next.row(k, j), factor, 0.0, result.row(k, j)};
  }
};

PlaneCorrection plane_correction(const Domain& d, const CorrectionStep& step, int k) {
  const double height = d.dz_cell[k];
  return {.x = step.gamma_dt / d.grid.dx,
          .y = step.gamma_dt / d.grid.dy,
          .z = step.gamma_dt / d.dz_face[k],
          .forcing_u = step.forced == k_u ? step.forcing : 0.0,
          .forcing_v = step.forced == k_v ? step.forcing : 0.0,
          .up = step.implicit_z / (height * d.dz_face[k]),
          .down = step.implicit_z / (height * d.dz_face[k - 1]),
          .xx = step.implicit_xy / (d.grid.dx * d.grid.dx),
          .yy = step.implicit_xy / (d.grid.dy * d.grid.dy)};
}

}  // namespace

BatchProjection::BatchProjection(const Domain& domain, BatchGhosts& ghosts,
                                 const pencil::BatchedOptions& options, Diffusion diffusion)
    : domain_(domain),
      ghosts_(ghosts),
      diffusion_(diffusion),
      solver_(domain.pencils, pressure_problem(domain.grid, domain.boundaries), options),
      phi_(domain.box),
      divergence_z_(domain.nz),
      planes_(domain.nz) {}

void BatchProjection::solve(const VelocityViews& predicted, double gamma_dt) {
  for (int k = 0; k < domain_.nz; ++k) divergence_z_[k] = 1.0 / (gamma_dt * domain_.dz_cell[k]);
  const double x = 1.0 / (gamma_dt * domain_.grid.dx), y = 1.0 / (gamma_dt * domain_.grid.dy);
  const Extent cells{domain_.nx, domain_.ny, domain_.nz};
  record_kernel_work("dns: divergence", cells_of(cells),  // reads u, v, w; writes the result
                     {32.0, k_operations_of_divergence});
  launch_cells("dns: divergence", cells,
               DivergenceRows{predicted, phi_.view(), x, y, divergence_z_.send()});
  solver_.solve(phi_.view());
  const GhostedView all[] = {{phi_.view(), k_pressure}};
  ghosts_.fill(all);
}

void BatchProjection::correct(const VelocityViews& predicted,
                              const std::function<CorrectionStep(int)>& step,
                              const VelocityViews& velocity, const FieldView& pressure) {
  for (int k = 0; k < domain_.nz; ++k) planes_[k] = plane_correction(domain_, step(k), k);
  correct_lower_faces(predicted, step(0), velocity);
  const Correction correction{predicted, velocity, phi_.view(), pressure, planes_.send()};
  const Extent cells{domain_.nx, domain_.ny, domain_.nz};
  switch (diffusion_) {
    case Diffusion::explicit_all: return launch<Diffusion::explicit_all>(cells, correction);
    case Diffusion::implicit_z: return launch<Diffusion::implicit_z>(cells, correction);
    case Diffusion::implicit_all: return launch<Diffusion::implicit_all>(cells, correction);
  }
}

void BatchProjection::correct_lower_faces(const VelocityViews& predicted,
                                          const CorrectionStep& step,
                                          const VelocityViews& velocity) {
  const double spacing[] = {domain_.grid.dx, domain_.grid.dy, domain_.dz_face[-1]};
  for (int c = 0; c < k_components; ++c) {
    if (domain_.first(c, c) == 0) continue;
    const auto layer = [&](const FieldView& field, int at) {
      Range cells[] = {{0, domain_.nx}, {0, domain_.ny}, {0, domain_.nz}};
      cells[c] = {at, at + 1};
      return part_of(field, cells[0], cells[1], cells[2]);
    };
    const FieldView faces = layer(velocity[c], -1);
    launch_cells("dns: correction of lower faces", {faces.nx, faces.ny, faces.nz},
                 CorrectedFaces{layer(predicted[c], -1), layer(phi_.view(), -1),
                                layer(phi_.view(), 0), faces, step.gamma_dt / spacing[c]});
  }
}

}  // namespace octant::dns
