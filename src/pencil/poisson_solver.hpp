// Fast direct solver of  identity * phi + laplacian * (d2/dx2 + d2/dy2 + d2/dz2) phi = f  with
// second-order differences, uniform in x and y, by transforms along x and y and a tridiagonal
// system along z for each pair of wavenumbers (paper, section 2.2, eq. 12).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pencil/boundary.hpp"
#include "pencil/field.hpp"
#include "pencil/pencil_grid.hpp"
#include "pencil/team.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Problem to solve. `z` is the matrix of d2/dz2 for the unknown planes (see second_derivative).
// Entries of the field that are not unknowns keep their values.
struct PoissonProblem {
  double spacing_x = 1.0, spacing_y = 1.0;
  AxisConditions x, y;
  TridiagonalMatrix z;
  // True if the second derivative of a constant along z is 0: neumann or periodic at both ends.
  bool z_allows_constant = false;
};

// Memory of planes; `stride` is the distance between planes in doubles.
struct PlaneMemory {
  double* first = nullptr;
  std::ptrdiff_t stride = 0;
};

// Options of the solver.
struct PoissonOptions {
  TridiagonalOptions tridiagonal;                      // methods along z
  TransposeBackend transpose = TransposeBackend::p2p;  // backend of the transposes between x and y
  // Memory of the planes between forward and backward; null: the solver allocates it. If solvers
  // share this memory or `tridiagonal.memory`, forward of one solver must not be called between
  // forward and backward of another.
  std::shared_ptr<Buffer> planes = nullptr;
  // Memory that replaces `planes` if keeps_planes() is true, such as the memory of the right-hand
  // side, which is not needed after forward.
  PlaneMemory kept = {};
};

// Seconds spent and data sent by this rank, over all solves. Times of exchanges are in `xy`, `z`
// and `turn` only; `turn` is the transpose of fields in z_direct pencils to x-pencils and back.
struct PoissonReport {
  double transform_seconds = 0.0, tridiagonal_seconds = 0.0;
  TransposeTraffic xy, z, turn;

  PoissonReport& operator+=(const PoissonReport& other);
};

// Poisson solver; all memory is allocated at construction. solve() replaces the right-hand side of
// a field by the solution. Alternatively, a caller's sweeps over planes are fused with the
// solver's:
//
//   for (int k : up or down as options.sweep) {
//     solver.transform_rows(team, k, rows, right-hand side of plane k);
//     solver.forward(team, k);  // before transform_rows() for another plane
//   }
//   solver.exchange();
//   for (int k : the opposite order) solver.backward(team, k, solution of plane k);
//
// All threads of a team (possibly one) make the calls of a sweep. Each thread provides the rows
// rows(team) of a plane of the right-hand side and obtains the same rows of the solution. A barrier
// must separate the calls for one plane from those for the next.
//
// transform_rows() transforms along x. With p_y = 1, forward() transforms the plane along y while
// it is in cache, and performs the forward elimination or packs it for the transpose to whole lines
// along z; backward() performs the inverse steps. With p_y > 1, transform_rows() packs the rows,
// and exchange() performs all work on whole lines along y.
//
// If identity is 0 and every axis is periodic or neumann at both ends, the solution is defined up
// to a constant, which is fixed by a zero mean over the last plane that is eliminated (n_z - 1 with
// Sweep::up, 0 with Sweep::down). The integral of the right-hand side must vanish; otherwise the
// mean over that plane does not satisfy the equation.
class PoissonSolver {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator(). `twin` is a
  // solver of the same problem with the same options, whose factors are reused; its set_operator()
  // applies to both. Collective. Throws InputError for incompatible conditions, and if a rank has
  // too few planes for P-TDMA.
  PoissonSolver(const PencilGrid& grid, const PoissonProblem& problem,
                const PoissonOptions& options = {}, const PoissonSolver* twin = nullptr);
  ~PoissonSolver();
  PoissonSolver(PoissonSolver&&) noexcept;
  PoissonSolver& operator=(PoissonSolver&&) noexcept;

  // Returns true if planes of coefficients are stored between forward and backward, because lines
  // along y and z need no transpose.
  static bool keeps_planes(const PencilGrid& grid, const TridiagonalOptions& options);

  // Sets the operator, such as that of the Helmholtz problem for a new time step. With ftm the cost
  // is one division per pair of unknowns in the next solve; with P-TDMA the factors are recomputed
  // and the reduced coefficients are exchanged. Collective.
  void set_operator(double identity, double laplacian);

  // Replaces the right-hand side at plane offset `plane_offset` by the solution. Collective.
  void solve(Field& field, int plane_offset = 0) { solve(field, plane_offset, plane_offset); }
  // Solves for the right-hand side at `plane_offset`; the solution has `to_offset`. Collective.
  void solve(Field& field, int plane_offset, int to_offset);

  int planes() const;  // number of unknown planes of this rank
  int rows() const;    // number of unknown rows of this rank
  // Returns the unknown rows among a thread's part of the rank's rows.
  Range rows(const Team& team) const;
  // Transforms rows of plane k, 0 <= k < planes(), of the right-hand side along x. `first` is cell
  // 0 of the first of `rows` (alignment to 16 bytes saves a copy), and rows are `row_stride`
  // doubles apart. The right-hand side is not changed.
  void transform_rows(const Team& team, int k, Range rows, const double* first,
                      std::ptrdiff_t row_stride);
  // Transforms plane k along y and performs the forward elimination along z. All rows of the plane
  // must have been transformed along x. exchange() then completes the systems across ranks.
  void forward(const Team& team, int k);
  // Completes the systems across ranks. Collective; called by one thread.
  void exchange();
  // Performs the back substitution of plane k, after exchange(), and the inverse transforms.
  // `first` is cell 0 of row 0. Writes only the unknowns of the thread's rows.
  void backward(const Team& team, int k, double* first, std::ptrdiff_t row_stride);

  // Returns true if the first plane of the sweep may also be processed last, for a caller that
  // needs data from other ranks to compute it. If y is divided among ranks, rows of all planes may
  // be transformed in any order before exchange().
  bool first_may_be_last() const;

  // Times and traffic of all solves so far.
  PoissonReport report() const;

 private:
  friend class PoissonSolvers;
  struct State;
  std::unique_ptr<State> state_;
};

// Several solvers of one grid with the same options and a joint exchange: with P-TDMA one message
// contains the end planes of all solvers. The solvers must not move in memory.
class PoissonSolvers {
 public:
  // Joins the exchanges of `solvers`. Collective.
  explicit PoissonSolvers(std::span<PoissonSolver> solvers);
  ~PoissonSolvers();

  // Calls PoissonSolver::exchange of all solvers. Collective.
  void exchange();
  PoissonReport report() const;  // sum over all solvers

 private:
  std::span<PoissonSolver> solvers_;
  std::unique_ptr<class JoinedLines> joined_;
  double seconds_ = 0.0;  // time spent in joined exchanges
};

// Batched PoissonSolver: all planes of a rank at once in the memory of Kokkos' default execution
// space (tridiagonal.hpp).
class BatchedPoisson {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator(). All memory is
  // allocated here. Collective. Throws InputError for incompatible conditions, and if a rank has
  // too few planes for P-TDMA.
  BatchedPoisson(const PencilGrid& grid, const PoissonProblem& problem,
                 const BatchedOptions& options = {});
  ~BatchedPoisson();
  BatchedPoisson(BatchedPoisson&&) noexcept;
  BatchedPoisson& operator=(BatchedPoisson&&) noexcept;

  // Sets the operator identity * phi + laplacian * (d2/dx2 + d2/dy2 + d2/dz2) phi for later solves.
  // Local.
  void set_operator(double identity, double laplacian);

  // Replaces the right-hand side in the unknowns of this rank's cells by the solution; other
  // entries keep their values. The field is in pencils of the orientation of the options.
  // Collective.
  void solve(const FieldView& field);

  // Times and traffic of all solves so far.
  PoissonReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
