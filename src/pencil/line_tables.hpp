// What kernels read of tridiagonal systems: coefficients of planes, and of lines by their shifts.
// Internal to pencil/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pencil/batched_lines.hpp"
#include "pencil/lines.hpp"

namespace octant::pencil {

// The matrices of some lines. Lines with equal shifts, as of the wave numbers +-k and of the two
// parts of a complex number, share one.
struct LineKinds {
  int distinct_x = 0, count = 0;                        // distinct_x matrices for each distinct y
  const int *x_place = nullptr, *y_place = nullptr;     // of a column, or row: which shift it has
  const double *x_shift = nullptr, *y_shift = nullptr;  // distinct ones

  KOKKOS_FUNCTION double shift(int matrix) const {
    return x_shift[matrix % distinct_x] + y_shift[matrix / distinct_x];
  }
  // Where factors [plane][matrix] of a plane begin, for the matrices of a row.
  KOKKOS_FUNCTION std::ptrdiff_t row(int n, int j) const {
    return std::ptrdiff_t{n} * count + y_place[j] * distinct_x;
  }
  KOKKOS_FUNCTION std::ptrdiff_t at(int n, int matrix) const {
    return std::ptrdiff_t{n} * count + matrix;
  }
};

// What a LineKinds points to.
class LineKindTable {
 public:
  explicit LineKindTable(const LineShifts& shifts);
  const LineKinds& kinds() const { return kinds_; }

 private:
  LineKinds kinds_;
  DeviceArray<int> places_;
  DeviceArray<double> shifts_;
};

// PlaneCoefficients of some planes, in the order of a sweep.
struct PlaneRows {
  int planes = 0;
  const double *before = nullptr, *diagonal = nullptr, *after = nullptr;
  double shift_factor = 1.0;

  KOKKOS_FUNCTION double diagonal_of(int n, double shift) const {
    return diagonal[n] + shift_factor * shift;
  }
  PlaneRows part(Range planes) const {
    return {planes.count(), before + planes.begin, diagonal + planes.begin, after + planes.begin,
            shift_factor};
  }
};

// What a PlaneRows points to.
class PlaneRowTable {
 public:
  explicit PlaneRowTable(int planes);
  // Waits.
  void set(const PlaneCoefficients& planes);
  const PlaneRows& rows() const { return rows_; }

 private:
  PlaneRows rows_;
  DeviceArray<double> values_;
};

// Some adjacent lines of a row: task by task all lines of a view.
struct LineTasks {
  static constexpr int k_most = k_device_is_host ? k_columns : 1;

  FieldView lines;
  int per_row;

  explicit LineTasks(const FieldView& view)
      : lines(view), per_row((view.nx + k_most - 1) / k_most) {}

  DeviceTasks all() const { return {0, std::int64_t{per_row} * lines.ny}; }
  KOKKOS_FUNCTION int row(std::int64_t task) const { return static_cast<int>(task / per_row); }
  KOKKOS_FUNCTION int begin(std::int64_t task) const {
    return static_cast<int>(task % per_row) * k_most;
  }
  KOKKOS_FUNCTION int width(int begin) const {
    if constexpr (k_most == 1) return 1;  // a constant keeps a thread's values in registers
    return lines.nx - begin < k_most ? lines.nx - begin : k_most;
  }
};

// With plane 0 that which is eliminated first.
inline FieldView in_order_of(Sweep sweep, FieldView lines, int planes) {
  if (sweep == Sweep::up) return lines;
  lines.first = lines.row(planes - 1, 0);
  lines.plane_stride = -lines.plane_stride;
  return lines;
}

}  // namespace octant::pencil
