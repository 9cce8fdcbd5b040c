// The solvers of poisson_solver.hpp and tridiagonal.hpp for one rank, all planes at once in the
// memory of Kokkos' default execution space: what a GPU wants, where those keep a plane in cache.
// On the host they give the same bits.
#pragma once

#include <memory>

#include "pencil/device_field.hpp"
#include "pencil/poisson_solver.hpp"

namespace octant::pencil {

// Solves what PoissonSolver solves on one rank.
class BatchedPoisson {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator. All memory is taken
  // here; none is given: the solver's own. Throws InputError for conditions that do not fit.
  BatchedPoisson(const Cells& cells, const PoissonProblem& problem, Sweep sweep = Sweep::up,
                 std::shared_ptr<BatchedMemory> memory = nullptr);
  ~BatchedPoisson();
  BatchedPoisson(BatchedPoisson&&) noexcept;
  BatchedPoisson& operator=(BatchedPoisson&&) noexcept;

  // identity * phi + laplacian * (d2/dx2 + d2/dy2 + d2/dz2) phi = f from the next solve on.
  void set_operator(double identity, double laplacian);

  // `field` has the constructor's cells. Its unknowns hold the right-hand side, then the solution;
  // other entries keep their values.
  void solve(const FieldView& field);

  // Seconds of all solves.
  double transform_seconds() const;
  double tridiagonal_seconds() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One matrix for all lines of a field along z, as FieldTridiagonal.
class BatchedTridiagonal {
 public:
  // Fields of `cells`, whose first `planes` planes are solved for; others keep their values.
  BatchedTridiagonal(const Cells& cells, int planes, bool periodic, Sweep sweep = Sweep::up);
  ~BatchedTridiagonal();
  BatchedTridiagonal(BatchedTridiagonal&&) noexcept;
  BatchedTridiagonal& operator=(BatchedTridiagonal&&) noexcept;

  // Takes a new matrix, of the size and periodicity of the constructor.
  void set_matrix(const TridiagonalMatrix& matrix);
  // The right-hand side is in the field's cells, the solution replaces it. Ghosts are left alone.
  void solve(const FieldView& field);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
