// Tridiagonal systems along z for all lines at once, in the memory of Kokkos' default execution
// space. Internal to pencil/; LineSolver's counterpart on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pencil/device_field.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// What is added to the diagonal of the line in column i of row j: x[i] + y[j].
struct LineShifts {
  std::vector<double> x, y;
};

// The matrices of all lines as kernels see them. Lines with equal shifts, as of the wave numbers
// +-k and of the two parts of a complex number, share one matrix.
struct LineMatrices {
  int planes = 0, distinct_x = 0, count = 0;            // matrices: distinct_x for each distinct y
  const int *x_place = nullptr, *y_place = nullptr;     // of a column, or row: which shift it has
  const double *x_shift = nullptr, *y_shift = nullptr;  // distinct ones
  const double *before = nullptr, *diagonal = nullptr, *after = nullptr;  // by plane of the sweep
  double shift_factor = 1.0;
  // [plane][matrix], of the plane at the sweep's beginning first: 1 / pivot; and where lines are
  // periodic, the coefficient of plane 0, and the `k_border` ones of the last unknown.
  double *reciprocal = nullptr, *fill = nullptr, *border = nullptr;

  KOKKOS_FUNCTION double diagonal_of(int n, int matrix) const {
    const double shift = x_shift[matrix % distinct_x] + y_shift[matrix / distinct_x];
    return diagonal[n] + shift_factor * shift;
  }
  KOKKOS_FUNCTION std::ptrdiff_t at(int n, int matrix) const {
    return std::ptrdiff_t{n} * count + matrix;
  }
};

// A task takes some adjacent lines of a row through both sweeps: what a vector of the host holds,
// or the one line of a GPU's thread.
class BatchedLines {
 public:
  // `singular`: a homogeneous matrix of line 0 of row 0 is, for which the last unknown is 0.
  BatchedLines(const LineShifts& shifts, int planes, bool periodic, bool singular, Sweep sweep);

  // identity + laplacian * matrix, of the planes and periodicity of the constructor.
  void set_operator(const TridiagonalMatrix& matrix, double identity, double laplacian);

  // In place, with a line for every shift. Does not wait.
  void solve(const FieldView& lines) const;

 private:
  bool periodic_, singular_;
  Sweep sweep_;
  LineMatrices matrices_;
  // What it points to.
  DeviceArray<int> places_;
  DeviceArray<double> shifts_, planes_, factors_;
};

}  // namespace octant::pencil
