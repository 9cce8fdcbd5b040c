// The Riemann solvers by their names, each with the kernels that are compiled for it.
//
// Adding one takes one file in hydro/, with a struct and the line that compiles its kernels
// (hydro/riemann_kernels.hpp), and its name in the list of riemann_solvers.cpp.
#pragma once

#include <string>
#include <vector>

#include "hydro/options.hpp"

namespace octant::hydro {

struct BadCell;
struct KernelArguments;

// What is compiled once per Riemann solver, for all reconstructions that the options may ask for.
struct RiemannKernels {
  const char* name;
  // A sweep; returns the largest signal speed.
  double (*sweep)(const HydroOptions& options, const KernelArguments& arguments);
  // Computes fallback_differences into device memory for cells in device memory.
  void (*fall_back)(const HydroOptions& options, const KernelArguments& arguments,
                    const BadCell* cells, int count, double* result);
};

// What hydro.riemann may be.
std::vector<std::string> riemann_solver_names();

// Throws RunError for a name that is none of them.
const RiemannKernels& riemann_kernels(const std::string& name);

// Each solver's file has it: `template RiemannKernels riemann_kernels_of<Hllc>();`.
template <class Solver>
RiemannKernels riemann_kernels_of();

}  // namespace octant::hydro
