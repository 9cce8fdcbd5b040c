#include "hydro/godunov.hpp"
#include "hydro/state_kernels.hpp"

namespace octant::hydro {

StateKernels godunov_states(const HydroOptions& options) {
  if (options.is_balanced()) return balanced_states(options);
  StateKernels kernels{};
  with_reconstruction(options, [&]<class Reconstruction>() {
    kernels = options.integrator == Integrator::muscl_hancock
                  ? state_kernels<MusclHancock<Reconstruction>>()
                  : state_kernels<RungeKutta<Reconstruction>>();
  });
  return kernels;
}

}  // namespace octant::hydro
