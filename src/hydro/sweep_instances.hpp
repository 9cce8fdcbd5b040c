// The sweep kernels are compiled once per reconstruction, in files of their own.
#pragma once

#include "hydro/exact_riemann.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

struct KernelArguments;

struct BadCell;

// Runs the kernel for the patch size of the tiles; returns the largest signal speed.
template <class Reconstruction, class RiemannSolver>
double run_sweep(const KernelArguments& arguments);

// Computes fallback_differences into device memory for cells in device memory.
template <class Reconstruction, class RiemannSolver>
void run_fallback(const KernelArguments& arguments, const BadCell* cells, int count,
                  double* result);

}  // namespace octant::hydro
