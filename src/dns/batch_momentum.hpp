// The predicted velocity of a Runge-Kutta stage (eq. 3, 7), all planes at once.
#pragma once

#include <vector>

#include "dns/field_views.hpp"
#include "dns/momentum.hpp"
#include "dns/plane_table.hpp"

namespace octant::dns {

class BatchMomentum {
 public:
  // `force` is per mass.
  BatchMomentum(const Domain& domain, double viscosity, Diffusion diffusion, const Vector& force);

  // Reads velocity and pressure with their ghosts, and writes the unknowns of the predicted
  // velocity. Does not wait.
  void predict(const VelocityViews& velocity, const FieldView& pressure, int n, const Stage& stage,
               const VelocityViews& predicted) const;

 private:
  const Domain& domain_;
  Diffusion diffusion_;
  std::vector<PlaneTable<PlaneOperator>> operators_;  // by component
  std::vector<DeviceField> rhs_;                      // likewise
};

}  // namespace octant::dns
