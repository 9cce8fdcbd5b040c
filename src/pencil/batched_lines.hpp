// Batched solvers of tridiagonal systems along z, counterparts of LineSolver for data in the memory
// of Kokkos' default execution space. Internal to pencil/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "comm/comm_options.hpp"
#include "pencil/device_field.hpp"
#include "pencil/lines.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Shifts of the diagonal: the system of the line in column i of row j has the shift x[i] + y[j].
struct LineShifts {
  std::vector<double> x, y;
};

// Tridiagonal systems along z that the ranks of a column solve together; each rank holds different
// planes of the same lines.
struct BatchedLinesProblem {
  Communicator column;
  std::function<Range(int rank)> planes_of;  // planes of a rank of the column
  int planes;                                // total number of planes
  bool periodic;
  bool singular;  // true if the matrix of line 0 of row 0 is singular; its last unknown is 0
  LineShifts shifts;
  TridiagonalMethod method;
  Sweep sweep;
  CommOptions comm;
  std::shared_ptr<BatchedMemory> memory;
};

// Returns the problem of the first `planes` planes of a grid with the given shifts. Requires
// options with memory. Throws InputError if a rank has too few planes for P-TDMA.
BatchedLinesProblem problem_of_lines(const PencilGrid& grid, int planes, bool periodic,
                                     bool singular, const LineShifts& shifts,
                                     const BatchedOptions& options);
// Returns the options, with new memory if they have none.
BatchedOptions with_memory(BatchedOptions options);

// Solver of all tridiagonal systems at once. A task solves adjacent lines of a row: up to k_columns
// lines on the host, for SIMD, or one line per GPU thread.
class BatchedLines {
 public:
  virtual ~BatchedLines() = default;

  // Sets the operator identity + laplacian * matrix, with the planes and periodicity of the
  // problem.
  virtual void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian) = 0;

  // Solves all systems in place on this rank's planes. Collective over the column. Waits for
  // kernels only where data are exchanged.
  virtual void solve(const FieldView& lines) = 0;

  // Messages and bytes sent so far.
  virtual TransposeTraffic traffic() const { return {}; }
};

// Selects a solver as make_line_solver does (line_solver.cpp). On a host the results of both
// solvers are bitwise equal. Collective.
std::unique_ptr<BatchedLines> make_batched_line_solver(const BatchedLinesProblem& problem);
// Makes the solver for P-TDMA on several ranks, and for periodic lines on one rank.
std::unique_ptr<BatchedLines> make_batched_partition(const BatchedLinesProblem& problem);

// Distinct matrices of some lines. Lines with equal shifts share a matrix, such as lines of the
// wavenumbers +-k and of the real and imaginary parts of a complex number.
struct LineMatrices {
  int distinct_x = 0, count = 0;  // number of distinct x shifts, and of matrices
  const int *shift_of_column = nullptr,
            *shift_of_row = nullptr;                    // index of the shift of a column, or row
  const double *x_shift = nullptr, *y_shift = nullptr;  // distinct shifts

  // Shift of a matrix.
  KOKKOS_FUNCTION double shift(int matrix) const {
    return x_shift[matrix % distinct_x] + y_shift[matrix / distinct_x];
  }
  // Returns the offset of a row's matrices in plane n of factors [plane][matrix].
  KOKKOS_FUNCTION std::ptrdiff_t row(int n, int j) const {
    return std::ptrdiff_t{n} * count + shift_of_row[j] * distinct_x;
  }
  // Offset of a matrix's factor in plane n.
  KOKKOS_FUNCTION std::ptrdiff_t at(int n, int matrix) const {
    return std::ptrdiff_t{n} * count + matrix;
  }
};

// Owner of the arrays that a LineMatrices points to.
class LineMatrixTable {
 public:
  explicit LineMatrixTable(const LineShifts& shifts);
  // Tables of the distinct matrices, for kernels.
  const LineMatrices& kinds() const { return kinds_; }

 private:
  LineMatrices kinds_;
  DeviceArray<int> places_;
  DeviceArray<double> shifts_;
};

// Device copy of PlaneCoefficients for some planes, in the order of a sweep.
struct PlaneRows {
  int planes = 0;
  const double *before = nullptr, *diagonal = nullptr, *after = nullptr;
  double shift_factor = 1.0;

  // Diagonal coefficient of plane n for a shift.
  KOKKOS_FUNCTION double diagonal_of(int n, double shift) const {
    return diagonal[n] + shift_factor * shift;
  }
  // Coefficients of the planes in the range `own`.
  PlaneRows part(Range own) const {
    return {own.count(), before + own.begin, diagonal + own.begin, after + own.begin, shift_factor};
  }
};

// Owner of the arrays that a PlaneRows points to.
class PlaneRowTable {
 public:
  explicit PlaneRowTable(int planes);
  // Copies the coefficients to the device and waits.
  void set(const PlaneCoefficients& planes);
  // Coefficients of the planes, for kernels.
  const PlaneRows& rows() const { return rows_; }

 private:
  PlaneRows rows_;
  DeviceArray<double> values_;
};

// Tasks that cover all lines of a view; a task consists of adjacent lines of a row.
struct LineTasks {
  static constexpr int k_most = k_device_is_host ? k_columns : 1;

  FieldView lines;
  int per_row;

  explicit LineTasks(const FieldView& view)
      : lines(view), per_row((view.nx + k_most - 1) / k_most) {}

  // Number of tasks.
  std::int64_t count() const { return std::int64_t{per_row} * lines.ny; }
  // Row of a task.
  KOKKOS_FUNCTION int row(std::int64_t task) const { return static_cast<int>(task / per_row); }
  // First column of a task.
  KOKKOS_FUNCTION int begin(std::int64_t task) const {
    return static_cast<int>(task % per_row) * k_most;
  }
  // Number of lines of a task that begins at column `begin`.
  KOKKOS_FUNCTION int width(int begin) const {
    if constexpr (k_most == 1) return 1;  // a constant keeps a thread's values in registers
    return lines.nx - begin < k_most ? lines.nx - begin : k_most;
  }
};

// Returns the view with its planes in the order of elimination.
inline FieldView in_order_of(Sweep sweep, FieldView lines, int planes) {
  if (sweep == Sweep::up) return lines;
  lines.first = lines.row(planes - 1, 0);
  lines.plane_stride = -lines.plane_stride;
  return lines;
}

}  // namespace octant::pencil
