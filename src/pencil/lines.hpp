// The lines that a rank's planes hold, and the matrices that belong to them. Internal to pencil/.
//
// A solver's inner loops run over the lines of a plane, row by row; what differs between one matrix
// for all lines and one per line is how a row's coefficients are found.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "pencil/fft.hpp"
#include "pencil/tridiagonal.hpp"

namespace octant::pencil {

// Rows of `width` adjacent lines, `row_stride` doubles apart, in planes `plane_stride` apart.
struct Lines {
  int rows, width;
  std::ptrdiff_t row_stride, plane_stride;

  std::size_t plane_size() const { return static_cast<std::size_t>(rows) * row_stride; }
};

// Planes of memory by their number. Those of one range may lie apart from the others.
struct Planes {
  double* base;
  std::ptrdiff_t stride;
  Range apart{};
  double* apart_base = nullptr;

  double* operator()(int k) const {
    if (apart.contains(k)) return apart_base + (k - apart.begin) * stride;
    return base + (k < apart.begin ? k : k - apart.count()) * stride;
  }
};

// The same in the order of a sweep.
struct SweptPlanes {
  Planes planes;
  int last;  // planes - 1
  Sweep sweep;

  double* operator()(int n) const { return planes(sweep == Sweep::up ? n : last - n); }
};

// Calls body(row, its offset in the plane, width) for every row. Rows of k_columns, which have most
// of the work, get their width as a constant.
template <class Body>
void for_each_row(const Lines& lines, const Body& body) {
  if (lines.width == k_columns) {
    for (int n = 0; n < lines.rows; ++n)
      body(n, n * lines.row_stride, std::integral_constant<int, k_columns>{});
  } else {
    for (int n = 0; n < lines.rows; ++n) body(n, n * lines.row_stride, lines.width);
  }
}

// One matrix for all lines: a coefficient of a plane is one number.
struct SharedMatrix {
  struct Row {
    double value;
    double operator[](int) const { return value; }
  };

  std::size_t size() const { return 1; }
  double shift(std::size_t) const { return 0.0; }
  Row row(const double* plane, int) const { return {*plane}; }
  // Where the coefficient of a line is found in its plane's.
  std::size_t place(int, int) const { return 0; }
};

// The same matrix with a shift of the diagonal for every line. Rows with the same shifts, as those
// of the wave numbers +-k_y, share their coefficients.
struct ShiftedMatrices {
  int width = 0;
  std::vector<int> of_row;     // row of coefficients of each row of lines
  std::vector<double> shifts;  // [row of coefficients][width]

  std::size_t size() const { return shifts.size(); }
  double shift(std::size_t n) const { return shifts[n]; }
  const double* row(const double* plane, int n) const { return plane + place(n, 0); }
  std::size_t place(int n, int i) const { return static_cast<std::size_t>(of_row[n]) * width + i; }
};

// identity + laplacian * matrix for a range of planes, in the order of a sweep: `before` multiplies
// the plane that is eliminated before, `after` the one that follows.
struct PlaneCoefficients {
  std::vector<double> before, diagonal, after;
  double shift_factor = 1.0;  // what multiplies the shift of a line
  bool homogeneous = false;   // identity is 0: a matrix may be singular

  int planes() const { return static_cast<int>(diagonal.size()); }

  PlaneCoefficients() = default;
  PlaneCoefficients(const TridiagonalMatrix& matrix, Range planes, Sweep sweep, double identity,
                    double laplacian)
      : shift_factor(laplacian), homogeneous(identity == 0.0) {
    const int last = matrix.size() - 1;
    const auto add = [&](int k) {
      double lower = laplacian * matrix.lower[k], upper = laplacian * matrix.upper[k];
      if (!matrix.periodic && k == 0) lower = 0.0;
      if (!matrix.periodic && k == last) upper = 0.0;
      before.push_back(sweep == Sweep::up ? lower : upper);
      after.push_back(sweep == Sweep::up ? upper : lower);
      diagonal.push_back(identity + laplacian * matrix.diagonal[k]);
    };
    if (sweep == Sweep::up)
      for (int k = planes.begin; k < planes.end; ++k) add(k);
    else
      for (int k = planes.end - 1; k >= planes.begin; --k) add(k);
  }
};

}  // namespace octant::pencil
