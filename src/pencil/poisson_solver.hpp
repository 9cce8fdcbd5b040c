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
// Entries of the field that are no unknowns keep their values.
struct PoissonProblem {
  double spacing_x = 1.0, spacing_y = 1.0;
  AxisConditions x, y;
  TridiagonalMatrix z;
  // True if a constant along z has second derivative 0: neumann or periodic at both ends.
  bool z_allows_constant = false;
};

// Memory of planes at a constant distance.
struct PlaneMemory {
  double* first = nullptr;
  std::ptrdiff_t stride = 0;
};

// Options of the solver.
struct PoissonOptions {
  TridiagonalOptions tridiagonal;                      // methods along z
  TransposeBackend transpose = TransposeBackend::p2p;  // backend of the transposes between x and y
  // Memory of the planes between forward and backward; null: the solver's own. Solvers that share
  // it, or `tridiagonal.memory`, must take turns: no forward of one between forward and backward of
  // another.
  std::shared_ptr<Buffer> planes = nullptr;
  // Memory that is used instead, `stride` doubles from plane to plane, if the solver keeps planes
  // (keeps_planes): that of the right-hand side itself, which is not needed after forward.
  PlaneMemory kept = {};
};

// Seconds spent and data sent by this rank, over all solves. Each second is counted once: those of
// the exchanges are in `xy` and `z`.
struct PoissonReport {
  double transform_seconds = 0.0, tridiagonal_seconds = 0.0;
  TransposeTraffic xy, z;

  PoissonReport& operator+=(const PoissonReport& other);
};

// Poisson solver; all memory is allocated at construction. A field is solved in place by solve(),
// or plane by plane, so that a caller's own sweeps over the planes are fused with the solver's:
//
//   for (int k : up or down as options.sweep) {
//     solver.transform_rows(team, k, rows, right-hand side of plane k);
//     solver.forward(team, k);  // before the rows of another plane are given
//   }
//   solver.exchange();
//   for (int k : the opposite order) solver.backward(team, k, solution of plane k);
//
// All threads of a team take part in the calls of a sweep; a single thread is a team, too. Each
// thread provides its share of a plane's rows, rows(team), and obtains the same rows of the
// solution. A barrier must separate the calls for one plane from those for the next.
//
// transform_rows transforms along x. With p_y = 1, forward transforms the plane along y while it is
// in cache, and eliminates it or packs it for the transpose to whole lines along z; backward does
// the opposite. Otherwise rows are packed as they are computed, and exchange() does all work on
// whole lines along y.
//
// If identity is 0 and every axis is periodic or neumann at both ends, the solution is defined up
// to a constant, which is fixed by a zero mean over the last plane that is eliminated (n_z - 1 with
// Sweep::up, 0 with Sweep::down). The right-hand side's integral must vanish; a remainder becomes
// an error of that plane's mean.
class PoissonSolver {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator. Collective. Throws
  // InputError for incompatible conditions, and if P-TDMA finds too few planes on a rank. `twin` is
  // a solver of the same problem with the same options, whose factors are reused: its set_operator
  // applies to both.
  PoissonSolver(const PencilGrid& grid, const PoissonProblem& problem,
                const PoissonOptions& options = {}, const PoissonSolver* twin = nullptr);
  ~PoissonSolver();
  PoissonSolver(PoissonSolver&&) noexcept;
  PoissonSolver& operator=(PoissonSolver&&) noexcept;

  // Returns true if planes of coefficients are kept between forward and backward: where lines along
  // y and z need no transpose.
  static bool keeps_planes(const PencilGrid& grid, const TridiagonalOptions& options);

  // Changes the operator, as for the Helmholtz problems of a new time step. With ftm the cost is
  // one division per pair of unknowns in the next solve; with P-TDMA the factors are recomputed and
  // the reduced ones exchanged. Collective.
  void set_operator(double identity, double laplacian);

  // Solves for the right-hand side at plane offset `plane_offset`; the solution has offset
  // `to_offset`. Collective.
  void solve(Field& field, int plane_offset = 0) { solve(field, plane_offset, plane_offset); }
  // Solves for the right-hand side at one plane offset; the solution has another one. Collective.
  void solve(Field& field, int plane_offset, int to_offset);

  // Number of unknown planes of this rank.
  int planes() const;  // number of unknown planes of this rank
  int rows() const;    // number of unknown rows of this rank
  // Returns a thread's rows: its share of the grid's rows, as far as they are unknowns.
  Range rows(const Team& team) const;
  // Transforms rows of plane k, 0 <= k < planes(), of the right-hand side along x. `first` is cell
  // 0 of the first of `rows` (alignment of 16 bytes saves a copy), and rows are `row_stride`
  // doubles apart. Only reads.
  void transform_rows(const Team& team, int k, Range rows, const double* first,
                      std::ptrdiff_t row_stride);
  // Transforms plane k along y and eliminates it along z, once all its rows are transformed along
  // x; then exchange() completes the systems across ranks.
  void forward(const Team& team, int k);
  // Completes the systems across ranks. Collective; called by one thread.
  void exchange();
  // Substitutes back in plane k, after exchange(), and transforms it to the solution. `first` is
  // cell 0 of row 0. Writes only the unknowns of the thread's rows.
  void backward(const Team& team, int k, double* first, std::ptrdiff_t row_stride);

  // Returns true if the first plane in the order of the sweep may also come last, for a caller that
  // waits for other ranks to compute it. Where y is cut, rows of any plane may come in any order
  // before exchange().
  bool first_may_be_last() const;

  // Seconds and data of all solves so far.
  PoissonReport report() const;

 private:
  friend class PoissonSolvers;
  struct State;
  std::unique_ptr<State> state_;
};

// Several solvers of one grid with the same options and one exchange: with P-TDMA the end planes of
// all are sent together. The solvers must not move in memory.
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
  double seconds_ = 0.0;  // in joined exchanges
};

// Batched PoissonSolver: all planes of a rank at once in the memory of Kokkos' default execution
// space (tridiagonal.hpp).
class BatchedPoisson {
 public:
  // The operator is the Laplacian (identity 0, laplacian 1) until set_operator. All memory is
  // allocated here. Collective. Throws InputError for incompatible conditions, and if P-TDMA finds
  // too few planes on a rank.
  BatchedPoisson(const PencilGrid& grid, const PoissonProblem& problem,
                 const BatchedOptions& options = {});
  ~BatchedPoisson();
  BatchedPoisson(BatchedPoisson&&) noexcept;
  BatchedPoisson& operator=(BatchedPoisson&&) noexcept;

  // Sets the operator identity * phi + laplacian * (d2/dx2 + d2/dy2 + d2/dz2) phi of later solves.
  // Local.
  void set_operator(double identity, double laplacian);

  // Replaces the right-hand side in the unknowns of this rank's cells by the solution; other
  // entries keep their values. Collective.
  void solve(const FieldView& field);

  // Seconds and data of all solves so far.
  PoissonReport report() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octant::pencil
