// From the options' enumerators to the types of the kernels.
#pragma once

#include "hydro/exact_riemann.hpp"
#include "hydro/options.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

template <class Reconstruction_, class RiemannSolver_>
struct Method {
  using Reconstruction = Reconstruction_;
  using RiemannSolver = RiemannSolver_;
};

// Calls body(Method<...>{}) with the types that the options ask for.
template <class Body>
auto with_method(const HydroOptions& options, const Body& body) {
  const auto with_riemann = [&]<class R>(const R&) {
    switch (options.riemann) {
      case RiemannSolver::llf: return body(Method<R, Llf>{});
      case RiemannSolver::hll: return body(Method<R, Hll>{});
      case RiemannSolver::exact: return body(Method<R, Exact>{});
      default: return body(Method<R, Hllc>{});
    }
  };
  if (options.reconstruction == Reconstruction::ppm) return with_riemann(Ppm{});
  switch (options.limiter) {
    case Limiter::minmod: return with_riemann(Plm<Minmod>{});
    case Limiter::van_leer: return with_riemann(Plm<VanLeer>{});
    case Limiter::huynh: return with_riemann(SmoothPlm{});
    default: return with_riemann(Plm<MonotonisedCentral>{});
  }
}

}  // namespace octant::hydro
