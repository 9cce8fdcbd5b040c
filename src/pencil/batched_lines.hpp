// Tridiagonal systems along z for all lines at once, in the memory of Kokkos' default execution
// space. Internal to pencil/; LineSolver's counterpart there.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "comm/comm_options.hpp"
#include "pencil/device_field.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// What is added to the diagonal of the line in column i of row j: x[i] + y[j].
struct LineShifts {
  std::vector<double> x, y;
};

// What the ranks of a column solve together: they hold other planes of the same lines.
struct BatchedLinesProblem {
  Communicator column;
  std::function<Range(int rank)> planes_of;  // of a rank of the column
  int planes;                                // of all of them
  bool periodic;
  bool singular;  // a homogeneous matrix of line 0 of row 0 is, for which the last unknown is 0
  LineShifts shifts;
  TridiagonalMethod method;
  Sweep sweep;
  CommOptions comm;
  std::shared_ptr<BatchedMemory> memory;
};

// A task takes some adjacent lines of a row through a sweep: what a vector of the host holds, or
// the one line of a GPU's thread.
class BatchedLines {
 public:
  virtual ~BatchedLines() = default;

  // identity + laplacian * matrix, of the planes and periodicity of the problem.
  virtual void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) = 0;

  // In place, this rank's planes of a line for every shift. Collective over the column. Waits only
  // for what must travel.
  virtual void solve(const FieldView& lines) = 0;

  virtual TransposeTraffic traffic() const { return {}; }
};

// The strategies of make_line_solver (line_solver.cpp), with the same bits on a host. Collective.
std::unique_ptr<BatchedLines> make_batched_lines(const BatchedLinesProblem& problem);
// That of P-TDMA, and of periodic lines on one rank.
std::unique_ptr<BatchedLines> make_batched_partition(const BatchedLinesProblem& problem);

}  // namespace octant::pencil
