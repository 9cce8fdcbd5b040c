// Chooses the process grid and the way of communication for a problem by measuring them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pencil/poisson_solver.hpp"

namespace octant {
class ParameterSchema;
}

namespace octant::pencil {

// Parameters grid.process_grid and grid.transpose.
struct PencilOptions {
  std::string process_grid = "auto";          // or "2x4": ranks along y and z
  std::optional<TransposeBackend> transpose;  // none: the fastest

  // What is forced, none for "auto". Throws InputError for a text that is neither.
  std::optional<ProcessGrid> forced_grid() const;
};

void declare(ParameterSchema& schema, PencilOptions& options);

struct TuningRow {
  ProcessGrid processes;
  TransposeBackend backend;
  double seconds;  // of one time step's solves on the slowest rank; the least of a few trials
};

// What was chosen, and what was measured: nothing if all was forced or there is one rank.
struct Tuning {
  ProcessGrid processes;
  TransposeBackend backend = TransposeBackend::p2p;
  std::vector<TuningRow> rows;  // fastest first

  std::string table() const;  // to print; empty if nothing was measured
};

// What a time step solves.
struct TuningProblem {
  Cells cells;
  PoissonProblem poisson;
  TridiagonalOptions tridiagonal;
  // Solves of FieldTridiagonal per Poisson solve: 3 with z-implicit diffusion.
  int field_solves = 0;
  bool in_batches = false;  // by the solvers of batched_solvers.hpp
  CommOptions comm = {};    // of those
};

// Times `trials` solves on every process grid that fits with every backend, skipping what is
// forced. Never chooses another method, and no choice alters arithmetic. Throws InputError for a
// forced process grid that does not fit, and if none fits. Collective; the same result on every
// rank.
Tuning tune(const Communicator& communicator, const TuningProblem& problem,
            const PencilOptions& options, int trials = 3);

}  // namespace octant::pencil
