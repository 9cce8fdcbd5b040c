#include "dns/batch_steps.hpp"

#include <utility>

#include "dns/operators.hpp"

namespace octant::dns {

namespace {

template <Diffusion diffusion>
struct PredictScalarRows {
  FieldView t, rhs, result;
  VelocityViews velocity;
  const ScalarOperator* operators;
  Stage stage;

  KOKKOS_FUNCTION ScalarCell<diffusion> operator()(int k, int j) const {
    const auto& [u, v, w] = velocity;
    return {operators[k],
            stage,
            {t.row(k, j), t.row(k, j + 1), t.row(k, j - 1), t.row(k + 1, j), t.row(k - 1, j),
             u.row(k, j), v.row(k, j), v.row(k, j - 1), w.row(k, j), w.row(k - 1, j), rhs.row(k, j),
             result.row(k, j)}};
  }
};

struct BuoyancyRows {
  FieldView t, old, w;
  const BuoyancyWeights* weights;

  KOKKOS_FUNCTION Buoyancy operator()(int k, int j) const {
    const auto [here, above, none] = weights[k];
    return {t.row(k, j), old.row(k, j), t.row(k + 1, j), old.row(k + 1, j), here,
            above,       none,          w.row(k, j)};
  }
};

}  // namespace

BatchScalar::BatchScalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
                         const pencil::BatchedOptions& solvers)
    : domain_(domain),
      options_(options),
      sides_(options.sides(domain.boundaries)),
      diffusion_(diffusion),
      fields_{DeviceField(domain.box), DeviceField(domain.box)},
      rhs_(domain.box),
      operators_(domain.nz),
      weights_(domain.nz) {
  for (int k = 0; k < domain.nz; ++k)
    operators_[k] = scalar_operator(domain, options.diffusivity, k);
  operators_.send();
  const Grid& grid = domain.grid;
  if (diffusion == Diffusion::implicit_z)
    along_z_ = std::make_unique<pencil::BatchedTridiagonal>(domain.pencils, grid.cells[2],
                                                            domain.boundaries.periodic(2), solvers);
  if (diffusion == Diffusion::implicit_all)
    along_all_ = std::make_unique<pencil::BatchedPoisson>(domain.pencils,
                                                          scalar_problem(grid, sides_), solvers);
}

void BatchScalar::advance(const VelocityViews& velocity, BatchGhosts& ghosts, const Stage& stage) {
  const FieldView t = now_->view(), rhs = rhs_.view(), result = before_->view();
  const ScalarOperator* operators = operators_.data();
  const Extent cells{domain_.nx, domain_.ny, domain_.nz};
  switch (diffusion_) {
    case Diffusion::explicit_all:
      launch_cells(
          "dns: scalar", cells,
          PredictScalarRows<Diffusion::explicit_all>{t, rhs, result, velocity, operators, stage});
      break;
    case Diffusion::implicit_z:
      launch_cells(
          "dns: scalar", cells,
          PredictScalarRows<Diffusion::implicit_z>{t, rhs, result, velocity, operators, stage});
      break;
    case Diffusion::implicit_all:
      launch_cells(
          "dns: scalar", cells,
          PredictScalarRows<Diffusion::implicit_all>{t, rhs, result, velocity, operators, stage});
      break;
  }
  std::swap(now_, before_);
  if (diffusion_ != Diffusion::explicit_all) diffuse(stage);
  const GhostedView all[] = {{now_->view(), k_scalar}};
  ghosts.fill(all);
}

void BatchScalar::diffuse(const Stage& stage) {
  const double factor = stage.implicit * options_.diffusivity * stage.gamma;
  for (int axis = along_all_ ? 0 : 2; axis < 3; ++axis)
    for (int end = 0; end < 2; ++end)
      add_beside(now_->view(), axis, end, scalar_source(domain_, sides_, axis, end, factor));
  if (along_z_) {
    along_z_->set_matrix(helmholtz(
        centre_z_matrix(domain_.grid, sides_[2][0].condition, sides_[2][1].condition), -factor));
    along_z_->solve(now_->view());
  } else {
    along_all_->set_operator(1.0, -factor);
    along_all_->solve(now_->view());
  }
}

void BatchScalar::push(const FieldView& w, const Stage& stage) {
  if (options_.buoyancy == 0.0) return;
  const int planes = domain_.unknowns(k_w, 2);
  for (int k = 0; k < planes; ++k) weights_[k] = buoyancy_weights(domain_, options_, stage, k);
  launch_cells("dns: buoyancy", {domain_.nx, domain_.ny, planes},
               BuoyancyRows{now_->view(), before_->view(), w, weights_.send()});
}

}  // namespace octant::dns
