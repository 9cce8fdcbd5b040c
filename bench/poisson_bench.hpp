// `octant bench poisson`: speed of the gravity solvers, and convergence of multigrid.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "gravity/level_solver.hpp"

namespace octant::bench {

// Problem to solve: a uniform periodic grid, by multigrid or by Fourier transforms, or a level of
// blocks clustered around a few points.
struct PoissonCase {
  std::string name = "uniform";  // or "fft", "amr"
  int cells = 64;                // on the base grid along each axis
  int block_size = 8;
  double tolerance = 1e-4;

  // True for the uniform grid, false for clustered blocks.
  bool is_uniform() const { return name != "amr"; }
  // True if Fourier transforms are used.
  bool by_fourier() const { return name == "fft"; }
};

// Result of one case: the minimum over several solves from phi = 0.
struct PoissonResult {
  PoissonCase poisson_case;
  int ranks = 1, threads = 1;
  std::int64_t cells = 0;        // on the level, over all ranks
  std::int64_t patch_cells = 0;  // in its patches, including masked cells
  gravity::SolveReport report;
  double seconds = 0.0, cpu_seconds = 0.0;  // per solve: wall-clock time; CPU time of all ranks
  double setup_seconds = 0.0;               // tables and masks, once per regrid

  // CPU time per cell in seconds.
  double cpu_per_cell() const { return cpu_seconds / static_cast<double>(cells); }
  // Mean factor by which a cycle reduces the residual.
  double convergence_factor() const;
};

// Solves a case `repeats` times. Collective.
PoissonResult measure_poisson(const Communicator& communicator, const PoissonCase& poisson_case,
                              int repeats);

// Runs the command. Returns an exit code; throws InputError for bad options. Collective.
int poisson_bench(const std::vector<std::string>& words);

}  // namespace octant::bench
