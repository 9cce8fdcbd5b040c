// Steps of a batch schedule, all planes at once in the memory of Kokkos' default execution space.
// Same bits on a host as the plane schedule.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "dns/ghosts.hpp"
#include "dns/kernels.hpp"
#include "dns/operators.hpp"
#include "dns/outflow_sides.hpp"
#include "dns/projection.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Prediction of the velocity in a Runge-Kutta stage (eq. 3, 7).
class BatchMomentum {
 public:
  // `force` is per unit mass.
  BatchMomentum(const Domain& domain, double viscosity, Diffusion diffusion, const Vector& force);

  // Computes the predicted velocity of Runge-Kutta stage `n` on all faces that are unknowns, from
  // velocity and pressure with valid ghosts. Returns without waiting for the kernels.
  void predict(const VelocityViews& velocity, const FieldView& pressure, int n, const Stage& stage,
               const VelocityViews& predicted) const;

 private:
  const Domain& domain_;
  Diffusion diffusion_;
  std::vector<PlaneTable<PlaneOperator>> operators_;  // by component
  std::vector<DeviceField> rhs_;                      // by component
};

// Implicit diffusion (prediction.hpp).
class BatchDiffusion {
 public:
  // Diffuses along z, or along all axes. `forced`: component whose mean is kept, or -1. Collective.
  BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced,
                 const pencil::BatchedOptions& options);

  // Sets the factor of the implicit diffusion. Collective where all axes are implicit.
  void set_factor(double factor);
  // Replaces the predicted velocity u** by u* of  u* - factor L u* = u**. `forcing_velocity` is a
  // uniform addition to the forced component of u**; solve includes it only where response()
  // cannot. `outflow` has predicted the stage. Collective.
  void solve(const VelocityViews& predicted, const Outflow<Place::device>& outflow,
             double forcing_velocity);
  // Returns the change of the forced component in plane k of this rank for a forcing velocity of 1,
  // which the caller adds; 0 where solve has added it, and where nothing is forced.
  double response(int k) const {
    return response_.empty() ? 0.0 : response_[domain_.box[2].begin + k];
  }

  // Seconds and data of the solvers so far.
  pencil::PoissonReport report() const;

 private:
  void add_sources(const FieldView& field, const Outflow<Place::device>& outflow,
                   int component) const;

  const Domain& domain_;
  bool along_all_;
  int forced_;
  // True if the response differs within a plane, so that the forcing velocity must be known before
  // the solve.
  bool forced_before_solve_;
  double factor_ = 0.0;
  std::vector<pencil::BatchedTridiagonal> lines_;  // by component, along z
  std::vector<pencil::BatchedPoisson> solvers_;    // by component, along all axes
  std::array<pencil::TridiagonalMatrix, k_components> second_derivative_;
  std::vector<double> response_;  // in all planes of the grid, or empty
};

// Factors of a plane for differences of the correction, in velocities and in the pressure, and
// additions to velocities.
struct PlaneCorrection {
  double x, y, z, forcing_u, forcing_v;
  double up, down, xx, yy;
};

// Pressure correction: projects the velocity and updates the pressure (eq. 4-6, 9, 10).
class BatchProjection {
 public:
  // Allocates the fields and prepares the pressure solver. Collective.
  BatchProjection(const Domain& domain, BatchGhosts& ghosts, const pencil::BatchedOptions& options,
                  Diffusion diffusion);

  // Computes the correction, with its ghosts, of a predicted velocity whose boundary faces are set.
  // Collective.
  void solve(const VelocityViews& predicted, double gamma_dt);

  // Corrects the predicted velocity, into `velocity`, with the faces on lower outflow sides of the
  // domain, and the pressure, with a step for each plane. Does not wait.
  void correct(const VelocityViews& predicted, const std::function<CorrectionStep(int)>& step,
               const VelocityViews& velocity, const FieldView& pressure);

  // Seconds and data of the solver so far.
  pencil::PoissonReport report() const { return solver_.report(); }

 private:
  void correct_lower_faces(const VelocityViews& predicted, const CorrectionStep& step,
                           const VelocityViews& velocity);

  const Domain& domain_;
  BatchGhosts& ghosts_;
  Diffusion diffusion_;
  pencil::BatchedPoisson solver_;
  DeviceField phi_;
  PlaneTable<double> divergence_z_;
  PlaneTable<PlaneCorrection> planes_;
};

}  // namespace octant::dns
