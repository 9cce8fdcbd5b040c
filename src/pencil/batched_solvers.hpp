// The solvers of poisson_solver.hpp and tridiagonal.hpp, all planes of a rank at once in the memory
// of Kokkos' default execution space: what a GPU wants, where those keep a plane in cache. On the
// host they give the same bits.
#pragma once

#include <memory>

#include "comm/comm_options.hpp"
#include "pencil/device_field.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::pencil {

// How batches exchange what a transpose moves by this backend: "pairwise" and "shared", which are
// for arrays of the host, as "p2p".
CommOptions options_of_batches(TransposeBackend backend, const CommOptions& comm);

struct BatchedOptions {
  TridiagonalMethod method = TridiagonalMethod::ftm;
  Sweep sweep = Sweep::up;
  CommOptions comm = {};                            // of what travels between ranks
  std::shared_ptr<BatchedMemory> memory = nullptr;  // none: the solver's own
};

// Solves what PoissonSolver solves.
class BatchedPoisson {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator. All memory is taken
  // here. Collective. Throws InputError for conditions that do not fit, and if P-TDMA finds too few
  // planes on a rank.
  BatchedPoisson(const PencilGrid& grid, const PoissonProblem& problem,
                 const BatchedOptions& options = {});
  ~BatchedPoisson();
  BatchedPoisson(BatchedPoisson&&) noexcept;
  BatchedPoisson& operator=(BatchedPoisson&&) noexcept;

  // identity * phi + laplacian * (d2/dx2 + d2/dy2 + d2/dz2) phi = f from the next solve on. Local.
  void set_operator(double identity, double laplacian);

  // `field` has this rank's cells. Its unknowns hold the right-hand side, then the solution; other
  // entries keep their values. Collective.
  void solve(const FieldView& field);

  PoissonReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One matrix for all lines of a field along z, as FieldTridiagonal.
class BatchedTridiagonal {
 public:
  // Solves for the first `planes` planes of the grid; others keep their values. Collective. Throws
  // InputError if P-TDMA finds too few planes on a rank.
  BatchedTridiagonal(const PencilGrid& grid, int planes, bool periodic,
                     const BatchedOptions& options = {});
  ~BatchedTridiagonal();
  BatchedTridiagonal(BatchedTridiagonal&&) noexcept;
  BatchedTridiagonal& operator=(BatchedTridiagonal&&) noexcept;

  // Takes a new matrix, of the size and periodicity of the constructor. Local.
  void set_matrix(const TridiagonalMatrix& matrix);
  // The right-hand side is in the field's cells, the solution replaces it. Ghosts are left alone.
  // Collective over the ranks of a column.
  void solve(const FieldView& field);

  TransposeTraffic traffic() const;

 private:
  std::unique_ptr<class BatchedLines> lines_;
};

}  // namespace octant::pencil
