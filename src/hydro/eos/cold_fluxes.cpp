#include "hydro/eos/cold_gas.hpp"
#include "hydro/reconstruction.hpp"
#include "hydro/solver_ops.hpp"

namespace octant::hydro {

void set_cold_fluxes(const HydroOptions& options, SchemeOps& ops) {
  TypeList<Llf, Hll, HllcHybrid, HllcLowMach, Hllc>::with(
      options.riemann, [&]<class Solver>() { set_fluxes<GodunovFluxes<Solver, ColdGas>>(ops); });
}

}  // namespace octant::hydro
