// Diffusion by Crank and Nicolson's scheme, or backward Euler's in damped steps: along z alone
// (eq. 11) or along all axes (eq. 8).
//
// The predicted velocity u** less a part of the diffusion of the present one lies one place lower;
// the solution of  u* - factor L u* = that,  factor = gamma nu dt times Stage::implicit, moves
// home.
#pragma once

#include <memory>

#include "dns/domain.hpp"
#include "dns/outflow_sides.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::dns {

// Plane by plane: eliminate all components of the planes in ascending order as they are predicted,
// exchange, which is collective and called by one thread, and settle the components in descending
// order. All threads of a team call eliminate and settle; a barrier must lie between one plane and
// the next. Planes of w that lie on a boundary are no unknowns.
class ImplicitDiffusion {
 public:
  virtual ~ImplicitDiffusion() = default;

  // Collective where diffusion is implicit along all axes.
  virtual void set_factor(double factor) = 0;
  virtual void eliminate(const Team& team, State& state, int k) = 0;
  // `push` would be added everywhere to the predicted component that is forced, had it been known
  // before.
  virtual void exchange(State& state, double push) = 0;
  virtual void settle(const Team& team, State& state, int component, int k) = 0;

  // What a push of 1 makes of the forced component in plane k of this rank: to be added by the
  // caller. 0 where exchange has added it.
  virtual double response(int k) const = 0;
  virtual pencil::PoissonReport report() const = 0;  // of all components
};

// Collective. `state` is what will be diffused: its memory is used. `outflow` has predicted
// the stage when its elimination begins. `forced` is the component whose
// mean is kept, or -1.
std::unique_ptr<ImplicitDiffusion> make_implicit_diffusion(const Domain& domain, State& state,
                                                           const Outflow<Place::host>& outflow,
                                                           Diffusion diffusion, int forced,
                                                           const pencil::PoissonOptions& options);

}  // namespace octant::dns
