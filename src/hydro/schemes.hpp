// The schemes by their names, each with the kernels that are compiled for it: Godunov's with every
// reconstruction and Riemann solver, and others that bring fluxes of their own.
//
// Adding one takes one file in hydro/, with what hydro/scheme.hpp or hydro/riemann.hpp asks for and
// the line that compiles its kernels (hydro/scheme_kernels.hpp), and its name in a list of
// schemes.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hydro/hydro_options.hpp"

namespace octant::hydro {

struct BadCell;
struct Batch;
struct KernelArguments;

// What a sweep in batches asks of a scheme (hydro/sweep_batches.hpp).
struct BatchKernels {
  // Memory that a tile takes.
  std::int64_t (*tile_doubles)(const HydroOptions& options, const KernelArguments& arguments);
  void (*states)(const HydroOptions& options, const KernelArguments& arguments, const Batch& batch);
  void (*fluxes)(const HydroOptions& options, const KernelArguments& arguments, const Batch& batch);
};

// The kernels of one scheme: of Godunov's, with one profile, limiter, solver and integrator.
struct SweepKernels {
  mesh::GhostShape ghosts;
  // A sweep by the schedule for cores; returns the largest signal speed.
  double (*sweep)(const HydroOptions& options, const KernelArguments& arguments);
  // Computes fallback_differences into device memory for cells in device memory.
  void (*fall_back)(const HydroOptions& options, const KernelArguments& arguments,
                    const BadCell* cells, int count, double* result);
  BatchKernels batches;
};

// What is compiled once per scheme, or per Riemann solver for all that the options may ask for.
struct SchemeKernels {
  const char* name;
  bool predicts;  // whether it may be run with Hancock's predictor
  SweepKernels (*choose)(const HydroOptions& options);
};

// What hydro.reconstruction may be: profiles for Godunov's scheme, or another scheme; and what
// hydro.riemann may be.
std::vector<std::string> reconstruction_names();
std::vector<std::string> riemann_solver_names();

// Throws RunError for names that are none of them.
const SchemeKernels& scheme_kernels(const HydroOptions& options);
SweepKernels sweep_kernels(const HydroOptions& options);

// Each scheme's file has the first, `template SchemeKernels scheme_kernels_of<DonorCell>();`, each
// Riemann solver's the second.
template <class Scheme>
SchemeKernels scheme_kernels_of();
template <class Solver>
SchemeKernels riemann_kernels_of();

}  // namespace octant::hydro
