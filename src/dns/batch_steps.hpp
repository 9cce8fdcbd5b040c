// Parts of a time step in a batch schedule: all planes at once, in the memory of Kokkos' default
// execution space. On a host, results are bitwise equal to those of the plane schedule.
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
  // Prepares the operators. `force` is the force per unit mass.
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
  // Prepares implicit diffusion along z, or along all axes. `forced` is the component with
  // prescribed mean, or -1. Collective.
  BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced,
                 const pencil::BatchedOptions& options);

  // Sets the factor of the implicit diffusion. Collective if all axes are implicit.
  void set_factor(double factor);
  // Replaces the predicted velocity u** by u*, the solution of  u* - factor L u* = u**.
  // `forcing_velocity` is a uniform addition to the forced component of u**, which solve() includes
  // only if response() cannot. `outflow` must have predicted the stage. Collective.
  void solve(const VelocityViews& predicted, const Outflow<Place::device>& outflow,
             double forcing_velocity);
  // Returns the change of the forced component in plane k of this rank for a forcing velocity of 1,
  // which the caller must add; 0 if solve() has included it, and without a forced component.
  double response(int k) const {
    return response_.empty() ? 0.0 : response_[domain_.box[2].begin + k];
  }

  // Times and traffic of the solvers so far.
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
  std::vector<double> response_;  // response in all planes of the grid, or empty
};

// Coefficients of a plane: factors of differences of phi in the velocity (x, y, z) and in the
// pressure (up, down, xx, yy), and forcing terms added to the velocity.
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

  // Computes the pressure correction phi, including ghosts, for a predicted velocity whose boundary
  // faces are set. Collective.
  void solve(const VelocityViews& predicted, double gamma_dt);

  // Writes the corrected velocity to `velocity`, including faces on lower outflow sides of the
  // domain, and updates the pressure. step(k) returns the coefficients for plane k. Does not wait.
  void correct(const VelocityViews& predicted, const std::function<CorrectionStep(int)>& step,
               const VelocityViews& velocity, const FieldView& pressure);

  // Times and traffic of the solver so far.
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
