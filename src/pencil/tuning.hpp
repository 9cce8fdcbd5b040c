// Selection of the process grid and the transpose backend of a problem by time measurements.
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
  // "auto", or ranks along y and z such as "2x4"; along y and x for fields in z_direct pencils.
  std::string process_grid = "auto";
  std::optional<TransposeBackend> transpose;  // empty: the fastest

  // Returns the prescribed grid; empty for "auto". Throws InputError for any other text.
  std::optional<ProcessGrid> forced_grid() const;
};

// Declares both parameters. `options` must outlive all reads of the schema.
void declare(ParameterSchema& schema, PencilOptions& options);

// Time of one process grid and backend.
struct TuningRow {
  ProcessGrid processes;
  TransposeBackend backend;
  double seconds;  // time of one step's solves on the slowest rank; minimum of a few trials
};

// Selected grid and backend, and measurements, which are empty if grid and backend are prescribed
// or there is only one rank.
struct Tuning {
  ProcessGrid processes;
  TransposeBackend backend = TransposeBackend::p2p;
  std::vector<TuningRow> rows;  // fastest first

  std::string table() const;  // measurements as text; empty if there are none
};

// Solves of one time step.
struct TuningProblem {
  Cells cells;
  PoissonProblem poisson;
  TridiagonalOptions tridiagonal;
  // Number of FieldTridiagonal solves per Poisson solve: 3 with z-implicit diffusion.
  int field_solves = 0;
  bool in_batches = false;              // true: BatchedPoisson and BatchedTridiagonal are used
  CommOptions comm = {};                // options of batched solvers
  Orientation fields = Orientation::x;  // pencils of the fields; z_direct requires batches
  // Minimum number of cells along each axis on the last rank along it: 2 at an outflow.
  Cells cells_of_last_rank = {1, 1, 1};
};

// Returns the prescribed process grid, or all grids of `ranks` ranks that fit the problem. Throws
// InputError for a prescribed grid that does not fit, and if none fits; the error then names the
// next smaller number of ranks that has a process grid. Local.
std::vector<ProcessGrid> possible_grids(int ranks, const TuningProblem& problem,
                                        const PencilOptions& options);

// Measures `trials` solves on every process grid that fits with every backend, unless both are
// prescribed, and returns the fastest combination, which is the same on every rank. The method does
// not change. Throws InputError for a prescribed process grid that does not fit, and if none fits.
// Collective.
Tuning tune(const Communicator& communicator, const TuningProblem& problem,
            const PencilOptions& options, int trials = 3);

}  // namespace octant::pencil
