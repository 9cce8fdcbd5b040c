#include "hydro/muscl_hancock.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

void set_balanced_states(const HydroOptions& options, SchemeOps& ops) {
  with_reconstruction(options, [&]<class Reconstruction>() {
    if (options.integrator == Integrator::muscl_hancock)
      set_states<MusclHancock<Reconstruction, true>>(ops);
    else set_states<RungeKutta<Reconstruction, true>>(ops);
  });
}

}  // namespace octant::hydro
