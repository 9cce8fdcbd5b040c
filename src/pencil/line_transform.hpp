// Transforms of all kinds in fft.hpp for many lines at once. Kernels reduce them to complex Fourier
// transforms, because GPU libraries have no cosine and sine transforms. Internal to pencil/.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

// Lines of numbers in device memory, numbered first within groups. The real and imaginary parts of
// a complex number are adjacent.
struct LineSet {
  double* first;
  std::ptrdiff_t point_stride, line_stride;
  int together;  // number of lines per group
  std::ptrdiff_t group_stride;

  // Address of the first number of line n.
  KOKKOS_FUNCTION double* line(int n) const {
    return first + n % together * line_stride + n / together * group_stride;
  }
};

// Work array of complex numbers for a group of lines.
struct LineWork {
  Kokkos::complex<double>* values;
  int length, lines;
  bool by_line;  // true: [line][point]; false: [point][line]

  // Number at a point of a line.
  KOKKOS_FUNCTION Kokkos::complex<double>& at(int point, int line) const {
    return values[by_line ? std::ptrdiff_t{line} * length + point
                          : std::ptrdiff_t{point} * lines + line];
  }
};

// One-dimensional transform of many lines by kernels.
class LineTransform {
 public:
  // Prepares the transform of `lines` lines of `size` points. If `contiguous`, the points of a line
  // are adjacent in memory, otherwise the lines are. The work array has at most `work_points`
  // complex numbers, but at least one line.
  LineTransform(TransformKind kind, int size, int lines, bool contiguous,
                int work_points = 1 << 22);

  // Transforms the lines `from` and writes the result, times `scale`, to `to`, which may alias
  // `from`.
  void execute(const LineSet& from, const LineSet& to, double scale = 1.0) const;

 private:
  TransformKind kind_;
  int size_, lines_;
  LineWork layout_;
  DeviceArray<Kokkos::complex<double>> work_, before_, after_;  // before_, after_: phase factors
  std::unique_ptr<ManyFft> fft_;
};

}  // namespace octant::pencil
