// Defines and instantiates run_sweep for one reconstruction and all Riemann solvers.
#pragma once

#include "hydro/sweep_instances.hpp"
#include "hydro/sweep_kernel.hpp"

namespace octant::hydro {

template <class Reconstruction, class RiemannSolver>
double run_sweep(const KernelArguments& arguments) {
  return arguments.sweep.tiles.patch == 8
             ? SweepKernel<8, Reconstruction, RiemannSolver>(arguments).run()
             : SweepKernel<16, Reconstruction, RiemannSolver>(arguments).run();
}

}  // namespace octant::hydro
