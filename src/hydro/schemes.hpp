// The schemes by their names, each with the kernels that are compiled for it: Godunov's with every
// reconstruction and Riemann solver, and others that bring fluxes of their own.
//
// Adding one takes one file in hydro/, with what hydro/scheme.hpp or hydro/riemann.hpp asks for and
// the line that compiles its kernels (hydro/scheme_kernels.hpp, hydro/flux_kernels.hpp), and its
// name in a list of schemes.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "hydro/hydro_options.hpp"

namespace octant::hydro {

struct BadCell;
struct Batch;
struct KernelArguments;
template <int M>
class SweepFaces;
template <int M>
class SweptCells;

// The fluxes through the lower faces along an axis in plane k that are wanted, for the schedule for
// cores (sweep_kernel.hpp).
template <int M>
using PlaneFluxes = void (*)(const KernelArguments& arguments, SweepFaces<M> faces,
                             const SweptCells<M>& swept, int axis, int k);
// What is done to a batch of tiles, for the schedule for devices (sweep_batches.hpp).
using BatchKernel = void (*)(const KernelArguments& arguments, const Batch& batch);

// What passes faces between states: of a Riemann solver, wherever the states come from, or of a
// scheme that brings fluxes of its own. Pairs are for tiles of 8^3 and 16^3 cells.
struct FluxKernels {
  std::tuple<PlaneFluxes<8>, PlaneFluxes<16>> of_plane;
  std::array<BatchKernel, 2> of_batch;
  // For a repair: through the six faces of each cell, from the states on its surface and on those
  // around it. result[(6 cell + 2 axis + side) variables + n]; all of it in device memory.
  // Makes the states beyond walls mirror images.
  void (*of_cells)(const KernelArguments& arguments, const BadCell* cells, int count,
                   double* surfaces, double* result);
};

// The states on the surfaces of cells, wherever they go: of Godunov's scheme with one profile,
// limiter and integrator, or of another scheme.
struct StateKernels {
  mesh::GhostShape ghosts;
  int points;  // on a surface
  // A sweep by the schedule for cores; returns the largest signal speed.
  std::array<double (*)(const KernelArguments& arguments, const FluxKernels& fluxes), 2> sweep;
  std::array<std::int64_t (*)(int variables), 2> tile_doubles;  // memory that one takes in a batch
  std::array<BatchKernel, 2> of_batch;
  // For a repair: states on the surfaces of a cell and the six around it,
  // surfaces[((7 cell + number) variables + n) points + point]: see lone_cells.hpp.
  void (*of_cells)(const KernelArguments& arguments, const BadCell* cells, int count,
                   double* surfaces);
};

struct SweepKernels {
  StateKernels states;
  FluxKernels fluxes;
};

// What is compiled once per scheme, or per Riemann solver for all that the options may ask for.
struct SchemeKernels {
  const char* name;
  bool predicts;       // whether it may be run with Hancock's predictor
  bool senses_shocks;  // whether fluxes depend on the shock sensor
  StateKernels (*states)(const HydroOptions& options);
  FluxKernels fluxes;
};

// What hydro.reconstruction may be: profiles for Godunov's scheme, or another scheme; and what
// hydro.riemann may be.
std::vector<std::string> reconstruction_names();
std::vector<std::string> riemann_solver_names();

// Throws RunError for names that are none of them.
const SchemeKernels& scheme_kernels(const HydroOptions& options);
SweepKernels sweep_kernels(const HydroOptions& options);

// Kernels for the profile, limiter and integrator that the options select, without and with
// hydro.well_balanced.
StateKernels godunov_states(const HydroOptions& options);
StateKernels balanced_states(const HydroOptions& options);

// Each scheme's file has the first, `template SchemeKernels scheme_kernels_of<DonorCell>();`, each
// Riemann solver's the second.
template <class Scheme>
SchemeKernels scheme_kernels_of();
template <class Solver>
SchemeKernels riemann_kernels_of();

}  // namespace octant::hydro
