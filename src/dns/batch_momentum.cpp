#include "dns/batch_steps.hpp"

#include "dns/operators.hpp"
#include "dns/step_costs.hpp"

namespace octant::dns {

namespace {

// What the prediction of one component reads and writes.
struct Prediction {
  int component;
  VelocityViews velocity;
  FieldView pressure, rhs, result;
  std::ptrdiff_t ahead;            // from a cell to the next one along the component's axis
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
    return {row, plane, p.operators[k], transport_of(p.component, at, row, plane), p.stage, rows};
  }
};

template <Diffusion diffusion, bool read_rhs, bool keep_rhs>
void launch(const Prediction& prediction, Extent unknowns) {
  // u, v, w and p are read and a component is written, as are right-hand sides.
  announce_kernel("dns: prediction", cells_of(unknowns),
                  {8.0 * (5 + read_rhs + keep_rhs), operations_of_prediction(diffusion, read_rhs)});
  launch_cells("dns: prediction", unknowns, PredictRows<diffusion, read_rhs, keep_rhs>{prediction});
}

// By stage.
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

}  // namespace octant::dns
