// The transforms of fft.hpp for many lines at once, by kernels around complex transforms: GPUs'
// libraries know those and real ones alone. Internal to pencil/.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/device_field.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

// Lines of numbers in device memory, counted within groups first. Complex kinds have the two parts
// of a number side by side.
struct LineSet {
  double* first;
  std::ptrdiff_t point_stride, line_stride;
  int together;  // lines of a group
  std::ptrdiff_t group_stride;

  KOKKOS_FUNCTION double* line(int n) const {
    return first + n % together * line_stride + n / together * group_stride;
  }
};

// Complex numbers on which a group of lines is worked on.
struct LineWork {
  Kokkos::complex<double>* values;
  int length, lines;
  bool by_line;  // [line][point], or else [point][line]

  KOKKOS_FUNCTION Kokkos::complex<double>& at(int point, int line) const {
    return values[by_line ? std::ptrdiff_t{line} * length + point
                          : std::ptrdiff_t{point} * lines + line];
  }
};

class LineTransform {
 public:
  // Of `lines` lines of `size` points. `contiguous`: the points of a line are neighbours in memory,
  // or else the lines are. At most `work_points` complex numbers are worked on at once, if a line
  // has no more.
  LineTransform(TransformKind kind, int size, int lines, bool contiguous,
                int work_points = 1 << 22);

  // `to` may be `from`. The result is multiplied by `scale`.
  void execute(const LineSet& from, const LineSet& to, double scale = 1.0) const;

 private:
  TransformKind kind_;
  int size_, lines_;
  LineWork layout_;
  DeviceArray<Kokkos::complex<double>> work_, before_, after_;  // and the factors of points
  std::unique_ptr<ManyFft> fft_;
};

}  // namespace octant::pencil
