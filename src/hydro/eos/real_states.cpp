#include "hydro/eos/real_kernels.hpp"
#include "hydro/muscl_hancock.hpp"
#include "hydro/scheme_ops.hpp"

namespace octant::hydro {

void set_real_states(const HydroOptions& options, SchemeOps& ops) {
  with_reconstruction(options, [&]<class Reconstruction>() {
    if (options.integrator == Integrator::muscl_hancock)
      set_states<MusclHancock<Reconstruction, false, Gas>>(ops);
    else set_states<RungeKutta<Reconstruction, false, Gas>>(ops);
  });
}

}  // namespace octant::hydro
