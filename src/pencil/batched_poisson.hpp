// The solver of poisson.hpp for one rank, all planes at once in the memory of Kokkos' default
// execution space: what a GPU wants, where poisson.hpp keeps a plane in cache.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/field_view.hpp"
#include "pencil/poisson.hpp"

namespace octant::pencil {

// Solves what PoissonSolver solves on one rank, on the host with the same bits.
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
  std::size_t bytes() const;  // memory held, without what was given

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
