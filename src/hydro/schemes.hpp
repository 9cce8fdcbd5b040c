// Schemes by name, each with the kernels compiled for it: Godunov's with every reconstruction and
// Riemann solver, and others with their own fluxes.
//
// A new scheme is one file in hydro/, with the interface of hydro/scheme.hpp or hydro/riemann.hpp
// and the line that compiles its kernels (hydro/scheme_ops.hpp or hydro/solver_ops.hpp), and its
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
struct RepairStencil;
template <int M>
class SweepFaces;
template <int M>
class ActiveCells;

// Kernel for active fluxes through the lower faces along an axis in plane k, in the CPU schedule
// (sweep_cpu.hpp).
template <int M>
using PlaneFluxes = void (*)(const KernelArguments& arguments, SweepFaces<M> faces,
                             const ActiveCells<M>& active, int axis, int k);
// Kernel for a batch of tiles, in the device schedule (sweep_gpu.hpp).
using BatchKernel = void (*)(const KernelArguments& arguments, const Batch& batch);

// Kernels of a scheme. States come from Godunov's scheme with one profile, limiter and integrator,
// or from another scheme; fluxes from a Riemann solver, for any states, or from a scheme with its
// own fluxes. Arrays and tuples of two are for tiles of 8^3 and 16^3 cells.
struct SchemeOps {
  const char* name;    // in hydro.reconstruction or hydro.riemann
  bool predicts;       // usable with Hancock's predictor
  bool senses_shocks;  // fluxes depend on the shock sensor

  // --- states on the surfaces of cells (set_states; null in the list of Riemann solvers) ---
  mesh::GhostShape ghosts = {};
  int points = 0;  // points on a surface
  // Sweep in the CPU schedule; returns the largest signal speed.
  std::array<double (*)(const KernelArguments& arguments, const SchemeOps& ops), 2> sweep = {};
  // Number of doubles of a tile in a batch.
  std::array<std::int64_t (*)(const KernelArguments& arguments), 2> tile_doubles = {};
  std::array<BatchKernel, 2> states_of_batch = {};
  // States for a repair, on the surfaces of a cell and the six around it, surfaces[((7 cell +
  // number) variables + n) points + point]: see repair_stencil.hpp.
  void (*states_of_cells)(const KernelArguments& arguments, const BadCell* cells, int count,
                          const RepairStencil& stencil, double* surfaces) = nullptr;

  // --- fluxes through faces (set_fluxes) ---
  std::tuple<PlaneFluxes<8>, PlaneFluxes<16>> fluxes_of_plane = {};
  std::array<BatchKernel, 2> fluxes_of_batch = {};
  // Fluxes for a repair, through the six faces of each cell, from the states on its surface and on
  // those of its neighbours. result[(6 cell + 2 axis + side) variables + n]; all in device memory.
  // Sets the states beyond walls to mirror images.
  void (*fluxes_of_cells)(const KernelArguments& arguments, const BadCell* cells, int count,
                          double* surfaces, double* result) = nullptr;
};

// Returns the choices of hydro.reconstruction: profiles for Godunov's scheme, then other schemes.
std::vector<std::string> reconstruction_names();
// Returns the choices of hydro.riemann, in the order of the manual.
std::vector<std::string> riemann_solver_names();

// Returns the list entry of the scheme or Riemann solver that the options select; for a Riemann
// solver, the kernels for states are null. Throws RunError for unknown names.
const SchemeOps& listed_scheme(const HydroOptions& options);
// Returns the complete operations for the options: states and fluxes.
SchemeOps scheme_ops(const HydroOptions& options);

// Sets the operations for states with the profile, limiter and integrator that the options select,
// without hydro.well_balanced.
void set_godunov_states(const HydroOptions& options, SchemeOps& ops);
// Sets the operations for states with the profile, limiter and integrator that the options select,
// with hydro.well_balanced.
void set_balanced_states(const HydroOptions& options, SchemeOps& ops);

// Returns the operations of a scheme with its own fluxes. Instantiated by the scheme's file:
// `template SchemeOps ops_of_scheme<DonorCell>();`.
template <class Scheme>
SchemeOps ops_of_scheme();
// Returns the operations of a Riemann solver, fluxes only. Instantiated by the solver's file.
template <class Solver>
SchemeOps ops_of_solver();

}  // namespace octant::hydro
