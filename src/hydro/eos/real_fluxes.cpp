#include "hydro/eos/real_kernels.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/solver_ops.hpp"

namespace octant::hydro {

void set_real_fluxes(const HydroOptions& options, SchemeOps& ops) {
  TypeList<Llf, Hll, HllcHybrid, HllcLowMach, Hllc>::with(
      options.riemann, [&]<class Solver>() { set_fluxes<GodunovFluxes<Solver, Gas>>(ops); });
}

}  // namespace octant::hydro
