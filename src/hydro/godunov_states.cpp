#include "hydro/muscl_hancock.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

void set_godunov_states(const HydroOptions& options, SchemeOps& ops) {
  if (options.is_balanced()) return set_balanced_states(options, ops);
  with_reconstruction(options, [&]<class Reconstruction>() {
    if (options.integrator == Integrator::muscl_hancock)
      set_states<MusclHancock<Reconstruction>>(ops);
    else set_states<RungeKutta<Reconstruction>>(ops);
  });
}

}  // namespace octant::hydro
