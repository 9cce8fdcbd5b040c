// Chooses the process grid and the transpose backend of a problem by timing them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/comm_options.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::pencil {

// Parameters grid.process_grid and grid.transpose.
struct PencilOptions {
  std::string process_grid = "auto";          // or "2x4": ranks along y and z
  std::optional<TransposeBackend> transpose;  // empty: the fastest

  // Returns the forced grid; none for "auto". Throws InputError for any other text.
  std::optional<ProcessGrid> forced_grid() const;
};

// Declares both parameters. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, PencilOptions& options);

// Time of one process grid and backend.
struct TuningRow {
  ProcessGrid processes;
  TransposeBackend backend;
  double seconds;  // one time step's solves on the slowest rank; minimum of a few trials
};

// Chosen grid and backend, and measurements: none if all was forced or there is one rank.
struct Tuning {
  ProcessGrid processes;
  TransposeBackend backend = TransposeBackend::p2p;
  std::vector<TuningRow> rows;  // fastest first

  std::string table() const;  // for output; empty if nothing was measured
};

// Solves of one time step.
struct TuningProblem {
  Cells cells;
  PoissonProblem poisson;
  TridiagonalOptions tridiagonal;
  // Number of FieldTridiagonal solves per Poisson solve: 3 with z-implicit diffusion.
  int field_solves = 0;
  bool in_batches = false;  // with BatchedPoisson and BatchedTridiagonal
  CommOptions comm = {};    // for batched solvers
};

// Returns the forced process grid, or all grids of `ranks` ranks that fit the problem. Throws
// InputError for a forced grid that does not fit, and if none fits.
std::vector<ProcessGrid> possible_grids(int ranks, const TuningProblem& problem,
                                        const PencilOptions& options);

// Times `trials` solves on every process grid that fits with every backend, unless they are forced.
// Never changes the method; no choice alters arithmetic. Throws InputError for a forced process
// grid that does not fit, and if none fits. Collective; the same result on every rank.
Tuning tune(const Communicator& communicator, const TuningProblem& problem,
            const PencilOptions& options, int trials = 3);

}  // namespace octant::pencil
