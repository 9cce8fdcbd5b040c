// One-dimensional transforms of one length and kind: the one place that knows which library.
//
// Bits: a line's result depends on its values alone, never on how many lines a rank holds or where
// they lie. A plan is estimated, not measured, always for the same batch, strides and alignment,
// and a batch whose lines are not treated alike is refused when it is made. (FFTW_UNALIGNED, which
// would allow any address, switches off FFTW's SIMD code: half the speed.)
#pragma once

#include <memory>

#include "pencil/boundary.hpp"

namespace octant::pencil {

// All unscaled. The names of FFTW's manual; dct and dst types as usual. Those of types 6 to 8 have
// functions of an odd number of quarter periods in n + 1/2 points:
//   dst6  2 sum_j x_j sin(pi (j + 1/2) (k + 1) / (n + 1/2)),  dst7 its transpose,
//   dct8  2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / (n + 1/2)).
enum class TransformKind {
  real_to_complex,      // n reals -> n/2 + 1 complex numbers
  complex_to_real,      // back; destroys its input
  complex_forward,      // n complex numbers
  complex_backward,     // back
  real_to_halfcomplex,  // n reals -> r_0 r_1 .. r_(n/2) i_((n-1)/2) .. i_1
  halfcomplex_to_real,
  dct1,
  dct2,
  dct3,
  dct4,
  dst1,
  dst2,
  dst3,
  dst4,
  dst6,
  dst7,
  dct8
};

// Reals side by side in a batch of columns: two cache lines, eight complex numbers.
inline constexpr int k_columns = 16;

// What is transformed: one contiguous line, out of place, or k_columns adjacent reals (as complex
// pairs where the kind is complex) for each of n rows, in place. Memory is 16-byte aligned.
enum class TransformShape { row, columns };

class Transform {
 public:
  virtual ~Transform() = default;
  virtual void execute(double* in, double* out) const = 0;
};

// Whether this program was built with a library for transforms; make_transform throws otherwise.
bool has_transforms();

// Throws RunError if the library has no such plan (dct1 of one point).
std::unique_ptr<Transform> make_transform(TransformKind kind, TransformShape shape, int size,
                                          bool measured);

// Fourier transforms of many lines at once, in the memory of Kokkos' default execution space: by
// the library of a GPU, and on a host by FFTW, for which there are better ways (above) but which
// lets the kernels around them be tested there.

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
