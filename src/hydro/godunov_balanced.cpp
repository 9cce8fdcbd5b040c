#include "hydro/godunov.hpp"
#include "hydro/state_kernels.hpp"

namespace octant::hydro {

StateKernels balanced_states(const HydroOptions& options) {
  StateKernels kernels{};
  with_reconstruction(options, [&]<class Reconstruction>() {
    kernels = options.integrator == Integrator::muscl_hancock
                  ? state_kernels<MusclHancock<Reconstruction, true>>()
                  : state_kernels<RungeKutta<Reconstruction, true>>();
  });
  return kernels;
}

}  // namespace octant::hydro
