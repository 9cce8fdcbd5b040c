#include "dns/batch_steps.hpp"

#include "dns/kernels.hpp"
#include "dns/operators.hpp"
#include "dns/step_costs.hpp"

namespace octant::dns {

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
    return {{us.row(k, j), phi, phi + 1, plane.x, plane.push_u, u.row(k, j)},
            {vs.row(k, j), phi, north, plane.y, plane.push_v, v.row(k, j)},
            {ws.row(k, j), phi, above, plane.z, 0.0, w.row(k, j)},
            {{phi, above, c.phi.row(k - 1, j), north, c.phi.row(k, j - 1), c.pressure.row(k, j),
              plane.up, plane.down, plane.xx, plane.yy}}};
  }
};

template <Diffusion diffusion>
void launch(Extent cells, const Correction& correction) {
  // Velocity and pressure are read and written, phi is read.
  announce_kernel("dns: correction", cells_of(cells), {72.0, operations_of_correction(diffusion)});
  launch_cells("dns: correction", cells, CorrectedRows<diffusion>{correction});
}

// Faces that have no cell of their own; `phi` and `next` are on either side of them.
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
          .push_u = step.forced == k_u ? step.forcing : 0.0,
          .push_v = step.forced == k_v ? step.forcing : 0.0,
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
  announce_kernel("dns: divergence", cells_of(cells),  // u, v, w; the result
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
