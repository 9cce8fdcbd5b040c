// Implicit diffusion (implicit_diffusion.hpp), all planes at once.
#pragma once

#include <array>
#include <vector>

#include "dns/field_views.hpp"
#include "dns/operators.hpp"
#include "pencil/batched_poisson.hpp"
#include "pencil/batched_tridiagonal.hpp"

namespace octant::dns {

// Adds an amount to all cells of a field, or to those beside one of its sides. Do not wait.
void add_to_cells(const FieldView& field, double amount);
void add_beside(const FieldView& field, int axis, int end, double amount);

class BatchDiffusion {
 public:
  // Along z, or along all axes. `forced` is the component whose mean is kept, or -1.
  BatchDiffusion(const Domain& domain, Diffusion diffusion, int forced);

  void set_factor(double factor);
  // Replaces the predicted velocity u** by u* of  u* - factor L u* = u**. `push` would be added
  // everywhere to the component that is forced, had it been known before.
  void solve(const VelocityViews& predicted, double push);
  // What a push of 1 makes of the forced component in plane k: to be added by the caller. 0 where
  // solve has added it, and where nothing is forced.
  double response(int k) const { return response_.empty() ? 0.0 : response_[k]; }

  pencil::PoissonReport report() const;

 private:
  void add_sources(const FieldView& field, int component) const;

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

}  // namespace octant::dns
