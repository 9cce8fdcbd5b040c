// Solvers of tridiagonal systems along z, whose planes are distributed over the ranks of a column.
// Internal to pencil/.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pencil/lines.hpp"
#include "pencil/transpose.hpp"

namespace octant::pencil {

template <class Matrices>
class LineSolver;

// Tridiagonal systems along z to solve: one system (line) for each (x, y), with one unknown in each
// plane z. x, y and z are global indices.
template <class Matrices>
struct LineProblem {
  Communicator column;  // ranks that hold other planes of the same lines, by ascending planes
  std::function<Range(int rank)> planes_of;  // planes of a rank of the column
  Layout layout;                             // layout of this rank's planes; box: lines and planes
  Lines lines;                               // lines of this rank's planes, as rows
  Matrices matrices;                         // matrices of `lines`
  // Returns the matrices of columns x of rows y, stored densely; used for transposed lines.
  std::function<Matrices(Range x, Range y)> dense_matrices;
  TridiagonalMatrix matrix;
  bool singular = false;  // true if the matrix of the first column of the first row is singular
  TridiagonalOptions options;
  std::shared_ptr<SolverMemory> memory;
  // Solver of the same problem whose factors are reused; its set_operator() applies to both.
  const LineSolver<Matrices>* twin = nullptr;
};

// Returns the problem of the first `unknown_planes` planes of a field, with one matrix for all
// lines.
LineProblem<SharedMatrix> field_lines(const PencilGrid& grid, int unknown_planes, bool periodic,
                                      const TridiagonalOptions& options);

// Steps of the exchange of a solver that reduces its planes (P-TDMA), called separately so that
// several solvers can combine their messages.
class ReducedLines {
 public:
  virtual ~ReducedLines() = default;
  // Reduces the systems to the unknowns of the first and last plane of this rank.
  virtual void reduce(const Planes& planes) = 0;
  // Returns the transpose from ends() to gathered(), which callers apply before solve_gathered()
  // and in reverse after it.
  virtual JoinedTransposes::Member sides() const = 0;
  // Memory of the reduced planes of this rank.
  virtual double* ends() = 0;
  // Memory of the reduced planes gathered from all ranks.
  virtual double* gathered() = 0;
  // Solves the reduced systems.
  virtual void solve_gathered() = 0;
};

// Tridiagonal solver that is called plane by plane within the caller's sweep: forward() for
// n = 0 .. m - 1, exchange() once, backward() for n = m - 1 .. 0. n counts this rank's planes in
// the order of the sweep; `planes(k)` is the address of line 0 in plane k, in ascending z for both
// directions of the sweep. All threads of a team call forward() and backward(); each thread
// processes part of the lines (Lines::share).
template <class Matrices>
class LineSolver {
 public:
  virtual ~LineSolver() = default;

  // Sets the operator identity + laplacian * matrix. Collective over the column.
  virtual void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) = 0;

  // Returns true if the results of forward() must stay in the planes until backward(). If not, all
  // planes may share memory and may be processed in any order.
  virtual bool uses_planes() const = 0;
  // Returns true if plane n = 0 may also be processed last.
  virtual bool first_may_be_last() const = 0;

  // Performs the forward elimination of plane n. The right-hand side `rhs` may be plane n itself.
  virtual void forward(const Team& team, const Planes& planes, int n, const double* rhs) = 0;
  // Solves the part of the system that is distributed over the ranks. Collective over the column.
  virtual void exchange(const Planes& planes) = 0;
  // Returns the separate steps of exchange(), or null if the solver does not reduce its planes.
  virtual ReducedLines* reduced() { return nullptr; }
  // Writes the solution of plane n to `solution`. `after` holds the solution of plane n + 1. A
  // solver that uses `after` also writes the solution to `carry`, which is `after` of the next
  // call. `carry` may alias `after` or `solution`.
  virtual void backward(const Team& team, const Planes& planes, int n, double* solution,
                        const double* after, double* carry) = 0;
  // Solves all planes in place.
  virtual void solve(const Planes& planes) = 0;

  // Messages and bytes sent so far.
  virtual TransposeTraffic traffic() const = 0;
};

// Joined exchange of several P-TDMA solvers on the same ranks, with one message for all solvers.
class JoinedLines {
 public:
  // Returns true if exchanges can be joined.
  static bool fits(const TridiagonalOptions& options, const Communicator& column) {
    return options.method == TridiagonalMethod::ptdma && column.size() > 1 &&
           options.backend != TransposeBackend::shared;
  }
  // Joins the exchanges of `solvers`, which must outlive this object. Collective.
  JoinedLines(const Communicator& column, std::vector<ReducedLines*> solvers,
              TransposeBackend backend);
  // Exchanges the given `planes` of each solver. Collective.
  void exchange(std::span<const Planes> planes);
  // Messages and bytes sent so far.
  const TransposeTraffic& traffic() const { return transposes_.traffic(); }

 private:
  std::vector<ReducedLines*> solvers_;
  JoinedTransposes transposes_;
};

// Selects a solver for the problem. Collective over the column.
template <class Matrices>
std::unique_ptr<LineSolver<Matrices>> make_line_solver(const LineProblem<Matrices>& problem);

}  // namespace octant::pencil
