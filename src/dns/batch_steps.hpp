// The steps of a batch schedule, all planes at once in the memory of Kokkos' default execution
// space: what the plane schedule does plane by plane, with the same bits on a host.
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
#include "dns/scalar.hpp"
#include "pencil/batched_halo.hpp"
#include "pencil/batched_solvers.hpp"

namespace octant::dns {

// A field and which quantity it is.
struct GhostedView {
  FieldView field;
  int quantity;
};

// The ghosts of ghosts.hpp. All calls are collective.
class BatchGhosts {
 public:
  // `outflow` must outlive this.
  BatchGhosts(const Domain& domain, const CommOptions& comm, const Outflow<Place::device>& outflow,
              const ScalarSides& scalar = {});

  // All ghosts of at most four quantities, and the faces of velocities that lie on a boundary.
  void fill(std::span<const GhostedView> all);
  // The faces of each predicted component on the boundaries that it is normal to, and below the
  // first cells: what the divergence needs.
  void close(const VelocityViews& predicted);

  std::vector<ExchangeCount> report() const { return halo_.report(); }

 private:
  const Domain& domain_;
  GhostRules rules_;
  pencil::BatchedHalo halo_;
  const Outflow<Place::device>& outflow_;
};

// The predicted velocity of a Runge-Kutta stage (eq. 3, 7).
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

// Adds an amount to all cells of a field, or to those beside one of its sides. Do not wait.
void add_to_cells(const FieldView& field, double amount);
void add_beside(const FieldView& field, int axis, int end, double amount);
// Adds factor times the cells of a view to those of another one of that shape. Does not wait.
void add_cells(const FieldView& field, const FieldView& others, double factor = 1.0);
// The cells of a view with these indices along an axis.
FieldView layers(const FieldView& field, int axis, Range range);

// Implicit diffusion (implicit_diffusion.hpp).
class BatchDiffusion {
 public:
  // Along z, or along all axes. `forced` is the component whose mean is kept, or -1. Collective.
  BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced,
                 const pencil::BatchedOptions& options);

  void set_factor(double factor);
  // Replaces the predicted velocity u** by u* of  u* - factor L u* = u**. `push` would be added
  // everywhere to the component that is forced, had it been known before. Collective.
  // `outflow` has predicted the stage.
  void solve(const VelocityViews& predicted, const Outflow<Place::device>& outflow, double push);
  // What a push of 1 makes of the forced component in plane k of this rank: to be added by the
  // caller. 0 where solve has added it, and where nothing is forced.
  double response(int k) const {
    return response_.empty() ? 0.0 : response_[domain_.box[2].begin + k];
  }

  pencil::PoissonReport report() const;

 private:
  void add_sources(const FieldView& field, const Outflow<Place::device>& outflow,
                   int component) const;

  const Domain& domain_;
  bool along_all_;
  int forced_;
  // Where the response differs within a plane, the push must be known before.
  bool pushed_before_;
  double factor_ = 0.0;
  std::vector<pencil::BatchedTridiagonal> lines_;  // of the components, along z
  std::vector<pencil::BatchedPoisson> solvers_;    // likewise, along all axes
  std::array<pencil::TridiagonalMatrix, k_components> second_derivative_;
  std::vector<double> response_;  // in all planes, or none
};

// What a plane multiplies differences of the correction by, for velocities and for the pressure,
// and what it adds to velocities.
struct PlaneCorrection {
  double x, y, z, push_u, push_v;
  double up, down, xx, yy;
};

// The pressure correction, and what it does to velocity and pressure (eq. 4-6, 9, 10).
class BatchProjection {
 public:
  // Collective.
  BatchProjection(const Domain& domain, BatchGhosts& ghosts, const pencil::BatchedOptions& options,
                  Diffusion diffusion);

  // Finds the correction of a predicted velocity whose boundary faces are closed, with its ghosts.
  // Collective.
  void solve(const VelocityViews& predicted, double gamma_dt);

  // Corrects the predicted velocity, which moves to `velocity`, with the faces on lower sides of
  // the domain where fluid leaves, and the pressure, by a step for each plane. Does not wait.
  void correct(const VelocityViews& predicted, const std::function<CorrectionStep(int)>& step,
               const VelocityViews& velocity, const FieldView& pressure);

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

// The scalar of scalar.hpp.
class BatchScalar {
 public:
  // Collective.
  BatchScalar(const Domain& domain, const ScalarOptions& options, Diffusion diffusion,
              const pencil::BatchedOptions& solvers);

  DeviceField& field() { return *now_; }

  // Advances by a stage with the velocity at its beginning. Collective.
  void advance(const VelocityViews& velocity, BatchGhosts& ghosts, const Stage& stage);
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
