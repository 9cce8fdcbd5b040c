// One-dimensional transforms of one length and kind: the one place that knows which library.
//
// Bits: a line's result depends on its values alone, never on the lines beside it or on where they
// lie: on hosts DUCC (M. Reinecke's successor of FFTPACK) transforms each in a lane of vectors of
// its own, with the same operations whatever the width of the processor's vectors.
#pragma once

#include <cstddef>
#include <memory>

namespace octant::pencil {

// All unscaled. dct and dst types as usual. Those of types 6 to 8 have functions of an odd number
// of quarter periods in n + 1/2 points:
//   dst6  2 sum_j x_j sin(pi (j + 1/2) (k + 1) / (n + 1/2)),  dst7 its transpose,
//   dct8  2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / (n + 1/2)).
enum class TransformKind {
  complex_forward,      // n complex numbers
  complex_backward,     // back
  real_to_halfcomplex,  // n reals -> r_0 r_1 i_1 r_2 i_2 ..; where n is even, r_(n/2) is the last
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

// Lines that are transformed together, side by side: a cache line of reals.
inline constexpr int k_lines = 8;
// Reals side by side in a block of columns: two groups of real lines, or one of complex ones.
inline constexpr int k_columns = 2 * k_lines;

class Transform {
 public:
  virtual ~Transform() = default;
  // k_lines adjacent reals (as complex pairs where the kind is complex) for each point, points
  // `stride` doubles apart, in place. Threads may call it at once.
  virtual void execute(double* lines, std::ptrdiff_t stride) const = 0;
};

// Throws RunError if there is no such transform (dct1 of one point).
std::unique_ptr<Transform> make_transform(TransformKind kind, int size);

// Fourier transforms of many lines at once, in the memory of Kokkos' default execution space: by
// the library of a GPU; on a host by the transforms above, which lets the kernels around them be
// tested there.

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

// Of complex numbers. Throws RunError if the library has no such plan, and InputError if there is
// none for that memory.
std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines);

// Contiguous lines of real numbers <-> length / 2 + 1 complex ones; line_stride counts the reals,
// and is even.
std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride);

}  // namespace octant::pencil
