// Solves the tridiagonal systems of the lines that a rank's planes hold, together with the other
// ranks of its column. Internal to pencil/.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pencil/joined_transposes.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// What is to be solved. Lines are columns x of rows y in planes z, counted in the whole array.
template <class Matrices>
class LineSolver;

template <class Matrices>
struct LineProblem {
  Communicator column;  // the ranks that hold other planes of the same lines, by ascending planes
  std::function<Range(int rank)> planes_of;  // of a rank of the column
  Layout layout;                             // of this rank's planes; box: lines and planes
  Lines lines;                               // the same memory as rows
  Matrices matrices;                         // of `lines`
  // Of the lines x of the rows y, dense: what a rank gets of whole lines.
  std::function<Matrices(Range x, Range y)> dense_matrices;
  TridiagonalMatrix matrix;
  bool singular = false;  // the line of the first x and the first y has a singular matrix
  TridiagonalOptions options;
  std::shared_ptr<SolverMemory> memory;
  // A solver of the same problem whose factors are used: its set_operator sets them for both.
  const LineSolver<Matrices>* twin = nullptr;
};

// The first `unknown_planes` planes of a field, with one matrix for all lines.
LineProblem<SharedMatrix> field_lines(const PencilGrid& grid, int unknown_planes, bool periodic,
                                      const TridiagonalOptions& options);

// The exchange of a solver that reduces its planes to few, which travel: taken apart, so that
// solvers can join theirs.
class ReducedLines {
 public:
  virtual ~ReducedLines() = default;
  virtual void reduce(const Planes& planes) = 0;
  // From `ends`, which hold the reduced planes, to `gathered`, and back when these are solved.
  virtual JoinedTransposes::Member sides() const = 0;
  virtual double* ends() = 0;
  virtual double* gathered() = 0;
  virtual void solve_gathered() = 0;
};

// Plane by plane, to fit into a caller's sweep over the planes: forward for n = 0 .. m - 1,
// exchange, backward for n = m - 1 .. 0. n counts this rank's planes in the order of the sweep;
// `planes` are line 0 of each in their natural order. All threads of a team call forward and
// backward; each reads and writes its share of the lines (Lines::share).
template <class Matrices>
class LineSolver {
 public:
  virtual ~LineSolver() = default;

  // identity + laplacian * matrix. Collective over the column.
  virtual void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) = 0;

  // Whether what forward leaves in the planes must stay there until backward. If not, the planes
  // may all be the same memory, and come in any order.
  virtual bool uses_planes() const = 0;
  // Whether the plane that is eliminated first (n = 0) may also come last.
  virtual bool first_may_be_last() const = 0;

  // `rhs`, which may be plane n itself, is its right-hand side.
  virtual void forward(const Team& team, const Planes& planes, int n, const double* rhs) = 0;
  // Collective over the column.
  virtual void exchange(const Planes& planes) = 0;
  // The parts of exchange; none where it is another one, or needs nobody.
  virtual ReducedLines* reduced() { return nullptr; }
  // The solution of plane n goes to `solution`. The caller keeps that of plane n + 1 in `after`; a
  // solver that needs it leaves that of plane n in `carry`, to be the next `after`. `carry` may be
  // `after`, or `solution`.
  virtual void backward(const Team& team, const Planes& planes, int n, double* solution,
                        const double* after, double* carry) = 0;
  // All of that at once, in place.
  virtual void solve(const Planes& planes) = 0;

  virtual TransposeTraffic traffic() const = 0;
};

// The exchanges of several solvers of the same ranks in one: their messages are joined where their
// planes are reduced and messages are what these travel by.
class JoinedLines {
 public:
  // Whether exchanges can be joined.
  static bool fits(const TridiagonalOptions& options, const Communicator& column) {
    return options.method == TridiagonalMethod::ptdma && column.size() > 1 &&
           options.backend != TransposeBackend::shared;
  }
  // Collective.
  JoinedLines(const Communicator& column, std::vector<ReducedLines*> solvers,
              TransposeBackend backend);
  // `planes` of each. Collective.
  void exchange(std::span<const Planes> planes);
  const TransposeTraffic& traffic() const { return transposes_.traffic(); }

 private:
  std::vector<ReducedLines*> solvers_;
  JoinedTransposes transposes_;
};

template <class Matrices>
std::unique_ptr<LineSolver<Matrices>> make_line_solver(const LineProblem<Matrices>& problem);

}  // namespace octant::pencil
