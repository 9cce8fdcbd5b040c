// The sweep kernels are compiled once per reconstruction, in files of their own.
#pragma once

#include "hydro/reconstruction.hpp"
#include "hydro/exact_riemann.hpp"

namespace octant::hydro {

struct KernelArguments;

// Runs the kernel for the patch size of the tiles; returns the largest signal speed.
template <class Reconstruction, class RiemannSolver>
double run_sweep(const KernelArguments& arguments);

}  // namespace octant::hydro
