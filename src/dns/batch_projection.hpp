// The pressure correction, and what it does to velocity and pressure (eq. 4-6, 9, 10), all planes
// at once.
#pragma once

#include <functional>

#include "dns/batch_ghosts.hpp"
#include "dns/field_views.hpp"
#include "dns/plane_table.hpp"
#include "dns/projection.hpp"
#include "pencil/batched_poisson.hpp"

namespace octant::dns {

// What a plane multiplies differences of the correction by, for velocities and for the pressure,
// and what it adds to velocities.
struct PlaneCorrection {
  double x, y, z, push_u, push_v;
  double up, down, xx, yy;
};

class BatchProjection {
 public:
  BatchProjection(const Domain& domain, const BatchGhosts& ghosts, pencil::Sweep sweep,
                  Diffusion diffusion);

  // Finds the correction of a predicted velocity whose boundary faces are closed, with its ghosts.
  void solve(const VelocityViews& predicted, double gamma_dt);

  // Corrects the predicted velocity, which moves to `velocity`, with the faces on lower sides of
  // the domain where fluid leaves, and the pressure, by a step for each plane. Does not wait.
  void correct(const VelocityViews& predicted, const std::function<Projection::Step(int)>& step,
               const VelocityViews& velocity, const FieldView& pressure);

  pencil::PoissonReport report() const;

 private:
  void correct_lower_faces(const VelocityViews& predicted, const Projection::Step& step,
                           const VelocityViews& velocity);

  const Domain& domain_;
  const BatchGhosts& ghosts_;
  Diffusion diffusion_;
  pencil::BatchedPoisson solver_;
  DeviceField phi_;
  PlaneTable<double> divergence_z_;
  PlaneTable<PlaneCorrection> planes_;
};

}  // namespace octant::dns
