// Prediction of the velocity in a Runge-Kutta stage: the momentum equation, and implicit diffusion.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "comm/reproducible_sum.hpp"
#include "dns/domain.hpp"
#include "dns/kernels.hpp"
#include "dns/outflow_sides.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Prediction of the velocity in a Runge-Kutta stage, plane by plane (eq. 3, 7).
class MomentumSweep {
 public:
  // Prepares the operators. `force` is the force per unit mass.
  MomentumSweep(const Domain& domain, double viscosity, Diffusion diffusion, const Vector& force);

  // Predicts plane k in stage n. Must be called for k = 0 .. nz - 1 in this order, with a barrier
  // after each plane. Reads the state at plane offset 0, including ghosts, and writes the unknowns
  // of this thread's rows of plane k at plane offset -1.
  void plane(const Team& team, State& state, int k, int n, const Stage& stage);

  // Adds to `sum` a predicted component times the cell height, over this thread's cells in plane k.
  void add_to_mean(const Team& team, const State& state, int k, int component,
                   ReproducibleSum& sum) const;

 private:
  using RowKernel = void (*)(int, std::ptrdiff_t, std::ptrdiff_t, const PlaneOperator&,
                             const AdvectingVelocities&, const Stage&, const MomentumRows&);
  const Domain& domain_;
  std::array<std::vector<PlaneOperator>, k_components> operators_;  // by plane
  double* rhs_row(int component, int k, int j) {
    return rhs_[component].data() + (std::ptrdiff_t{k} * domain_.ny + j) * rhs_stride_;
  }
  double* edge_of(const Team& team) { return edges_.data() + team.rank() * edge_stride_; }
  void keep_edge(const Team& team, const State& state, int k);

  std::ptrdiff_t rhs_stride_, edge_stride_;
  std::array<pencil::Buffer, k_components> rhs_;  // right-hand sides, without ghosts
  // Row of w after each thread's last row, in the plane below, saved before the next thread
  // overwrites that row.
  pencil::Buffer edges_;
  std::array<RowKernel, k_stages> kernels_;
};

// Implicit diffusion by Crank-Nicolson, or by backward Euler in damped steps: along z only (eq. 11)
// or along all axes (eq. 8).
//
// The right-hand side r, the predicted velocity u** without the part of the diffusion that eq. 8 or
// 11 subtracts, is read at plane offset -1. The solution of  u* - factor L u* = r  with
// factor = nu Stage::gamma Stage::implicit  is written at plane offset 0.
//
// Plane by plane: eliminate() for all planes in ascending order as they are predicted; exchange()
// once, which is collective and called by one thread; then back_substitute() for the components in
// descending order of planes. All threads of a team call eliminate() and back_substitute(), with a
// barrier between planes. Planes of w on a boundary are not unknowns.
class ImplicitDiffusion {
 public:
  virtual ~ImplicitDiffusion() = default;

  // Sets the factor of L. Collective if diffusion is implicit along all axes.
  virtual void set_factor(double factor) = 0;
  // Performs the forward elimination of plane k for all components.
  virtual void eliminate(const Team& team, State& state, int k) = 0;
  // Completes the systems across ranks. `forcing_velocity` is a uniform addition to the forced
  // component of the prediction, which is included here only if response() cannot. Collective.
  virtual void exchange(State& state, double forcing_velocity) = 0;
  // Performs the back substitution of plane k for a component.
  virtual void back_substitute(const Team& team, State& state, int component, int k) = 0;

  // Returns the change of the forced component in plane k of this rank for a forcing velocity of 1,
  // which the caller must add; 0 if exchange() has included it.
  virtual double response(int k) const = 0;
  virtual pencil::PoissonReport report() const = 0;  // sum over all components
};

// Creates the implicit diffusion of `state`, whose memory it uses; null for explicit diffusion.
// `outflow` must have predicted the stage before the elimination begins. `forced` is the component
// with prescribed mean, or -1. Collective.
std::unique_ptr<ImplicitDiffusion> make_implicit_diffusion(const Domain& domain, State& state,
                                                           const Outflow<Place::host>& outflow,
                                                           Diffusion diffusion, int forced,
                                                           const pencil::PoissonOptions& options);

}  // namespace octant::dns
