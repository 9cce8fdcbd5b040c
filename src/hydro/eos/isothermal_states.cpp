#include "hydro/eos/barotropic.hpp"
#include "hydro/muscl_hancock.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

void set_isothermal_states(const HydroOptions& options, SchemeOps& ops) {
  with_reconstruction(options, [&]<class Reconstruction>() {
    if (options.integrator == Integrator::muscl_hancock)
      set_states<MusclHancock<Reconstruction, false, IsothermalGas>>(ops);
    else set_states<RungeKutta<Reconstruction, false, IsothermalGas>>(ops);
  });
}

}  // namespace octant::hydro
