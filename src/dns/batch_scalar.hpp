// The scalar of scalar.hpp, all planes at once.
#pragma once

#include <memory>

#include "dns/batch_ghosts.hpp"
#include "dns/field_views.hpp"
#include "dns/plane_table.hpp"
#include "dns/scalar.hpp"
#include "dns/scalar_kernels.hpp"
#include "pencil/batched_poisson.hpp"
#include "pencil/batched_tridiagonal.hpp"

namespace octant::dns {

class BatchScalar {
 public:
  BatchScalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion);

  DeviceField& field() { return *now_; }

  // Advances by a stage with the velocity at its beginning.
  void advance(const VelocityViews& velocity, const BatchGhosts& ghosts, const Stage& stage);
  // Adds the buoyancy of the stage to the predicted w.
  void push(const FieldView& w, const Stage& stage);

 private:
  void diffuse(const Stage& stage);

  const Domain& domain_;
  ScalarOptions options_;
  ScalarSides sides_;
  Diffusion diffusion_;
  DeviceField fields_[2], rhs_;
  DeviceField *now_ = &fields_[0], *before_ = &fields_[1];
  PlaneTable<ScalarOperator> operators_;
  PlaneTable<BuoyancyWeights> weights_;
  std::unique_ptr<pencil::BatchedTridiagonal> along_z_;
  std::unique_ptr<pencil::BatchedPoisson> along_all_;
};

}  // namespace octant::dns
