// Diffusion by Crank and Nicolson's scheme: along z alone (eq. 11) or along all axes (eq. 8).
//
// The predicted velocity u** less half of the diffusion of the present one lies one place lower;
// the solution of  u* - factor L u* = that,  factor = gamma nu dt / 2, moves home.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "dns/domain.hpp"
#include "pencil/poisson.hpp"

namespace octant::dns {

// What the boundaries of the domain add to the right-hand sides of implicit diffusion.
class BoundarySources {
 public:
  // Along z alone, or along all axes.
  BoundarySources(const Domain& domain, bool all_axes);
  // Adds factor times the sources to a component in plane k, one place lower.
  void add(State& state, int component, int k, double factor) const;

 private:
  const Domain& domain_;
  double amounts_[k_components][3][2] = {};
};

class DiffusionAlongZ {
 public:
  // Collective.
  DiffusionAlongZ(const Domain& domain, const pencil::TridiagonalOptions& options);

  void set_factor(double factor);

  // Plane by plane: eliminate all components of the planes in ascending order as they are
  // predicted, exchange, which is collective, and settle each component in descending order. The
  // last planes of w, on the boundary, are only moved.
  void eliminate(State& state, int k);
  void exchange(State& state);
  void settle(State& state, int component, int k);

  // The solution in plane k of this rank where the right-hand side of a component is 1 everywhere
  // and its boundary values are 0.
  double response(int component, int k) const;

  pencil::TransposeTraffic traffic() const;  // of all components

 private:
  int matrix_of(int component) const { return component == k_w ? 1 : 0; }

  const Domain& domain_;
  BoundarySources sources_;
  double factor_ = 0.0;
  // Where lines are transposed, exchange does all: the components take turns in the memory for
  // that.
  bool transposed_;
  std::vector<pencil::FieldTridiagonal> solvers_;  // of the components
  // Of u and v, whose boundary conditions along z are the same, and of w.
  std::array<pencil::TridiagonalMatrix, 2> second_derivative_;
  std::vector<double> response_;  // of u and v, in all planes
};

class DiffusionAlongAll {
 public:
  // Collective.
  DiffusionAlongAll(const Domain& domain, const pencil::PoissonOptions& options);

  void set_factor(double factor);
  // `forcing` is added to the right-hand side of component `forced` (-1: none). Collective.
  void solve(State& state, int forced, double forcing);
  pencil::PoissonReport report() const;

 private:
  const Domain& domain_;
  BoundarySources sources_;
  double factor_ = 0.0;
  std::vector<pencil::PoissonSolver> solvers_;  // components with equal problems share one
  std::array<int, k_components> solver_of_{};
};

}  // namespace octant::dns
