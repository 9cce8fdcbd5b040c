// From the names in the options to the reconstructions that kernels are compiled for.
#pragma once

#include "core/type_list.hpp"
#include "hydro/options.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

// What hydro.limiter and hydro.reconstruction may be. Which Riemann solvers there are is said in
// hydro/riemann_solvers.cpp.
using Limiters = TypeList<Minmod, MonotonisedCentral, VanLeer, Huynh>;
using Reconstructions = TypeList<PiecewiseLinear, Ppm>;

// Calls body.template operator()<R>() with the reconstruction that the options ask for.
template <class Body>
void with_reconstruction(const HydroOptions& options, const Body& body) {
  Reconstructions::with(options.reconstruction, [&]<class Reconstruction>() {
    Limiters::with(options.limiter, [&]<class Limiter>() {
      body.template operator()<typename Reconstruction::template With<Limiter>>();
    });
  });
}

}  // namespace octant::hydro
