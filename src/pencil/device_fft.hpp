// Fourier transforms of many lines at once, in the memory of Kokkos' default execution space: by
// the library of a GPU, and on a host by FFTW, for which there are better ways (fft.hpp) but which
// lets the kernels around them be tested there. Internal to pencil/.
#pragma once

#include <memory>

namespace octant::pencil {

// `lines` lines of `length` numbers; strides count numbers.
struct FftLines {
  int length, lines, point_stride, line_stride;
};

// In place and unscaled, in the order of the default execution space's kernels.
class ManyFft {
 public:
  virtual ~ManyFft() = default;
  virtual void forward(double* first) const = 0;
  virtual void backward(double* first) const = 0;
};

// Of complex numbers. Throws RunError if the library has no such plan, and InputError if it does
// not know that memory.
std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines);

// Contiguous lines of real numbers <-> length / 2 + 1 complex ones; line_stride counts the reals,
// and is even.
std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride);

}  // namespace octant::pencil
