// One-dimensional transforms of one length and kind, independent of the FFT library.
//
// Reproducibility: a line's result depends only on its values, not on adjacent lines or on its
// position. On hosts DUCC (M. Reinecke's successor of FFTPACK) transforms each line in a SIMD lane
// of its own, with the same operations for every vector width.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>

#include "pencil/field.hpp"

namespace octant::pencil {

// Kinds of unscaled transforms. dct and dst types are the standard ones. Types 6 to 8 have
// functions of an odd number of quarter periods in n + 1/2 points:
//   dst6  2 sum_j x_j sin(pi (j + 1/2) (k + 1) / (n + 1/2)),  dst7 its transpose,
//   dct8  2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / (n + 1/2)).
enum class TransformKind {
  complex_forward,      // n complex numbers
  complex_backward,     // inverse direction
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

// Number of lines that are transformed together, side by side: a cache line of reals.
inline constexpr int k_lines = 8;
// Number of reals side by side in a block of columns: two groups of real lines, or one of complex
// ones.
inline constexpr int k_columns = 2 * k_lines;

// One-dimensional transform of many lines at once; unscaled.
class Transform {
 public:
  virtual ~Transform() = default;
  // Transforms k_lines adjacent reals (complex pairs where the kind is complex) for each point, in
  // place; points are `stride` doubles apart. Thread-safe.
  virtual void execute(double* lines, std::ptrdiff_t stride) const = 0;
};

// Makes a transform. Throws RunError if it does not exist (dct1 of one point).
std::unique_ptr<Transform> make_transform(TransformKind kind, int size);

// Fourier transforms of many lines at once in the memory of Kokkos' default execution space: by a
// GPU library, or on a host by the transforms above, so that the kernels around them can be tested
// there.

// Batch of `lines` lines of `length` numbers; strides count numbers.
struct FftLines {
  int length, lines, point_stride, line_stride;
};

// Transform in place and unscaled, in order with the kernels of the default execution space.
class ManyFft {
 public:
  virtual ~ManyFft() = default;
  // Transforms all lines from positions to wavenumbers; `first` is in device memory.
  virtual void forward(double* first) const = 0;
  // Inverse without the factor 1 / length.
  virtual void backward(double* first) const = 0;
};

// Makes a transform of complex numbers. Throws RunError if the library has no such plan, and
// InputError if no library supports that memory.
std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines);

// Makes a transform of contiguous lines of reals to length / 2 + 1 complex numbers, and back;
// line_stride counts reals and is even.
std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride);

// Operations of a Fourier transform per real number, for a profile (core/observer.hpp). Lines of n
// real or complex numbers count as 5/2 n log2 n or 5 n log2 n operations for every library (Frigo &
// Johnson, Proc. IEEE 93, 216, 2005).
inline double fft_operations(int n) { return 2.5 * std::log2(static_cast<double>(n)); }

// --- rows to lines side by side, and back --------------------------------------------------------
//
// Copies `points` numbers of each of at most k_lines rows to [point][k_lines]. Missing rows repeat
// the last one.
void gather_rows(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                 double* lines);

// Copies lines back to rows, times a factor.
void scatter_rows(const double* lines, int points, double factor, double* first,
                  std::ptrdiff_t row_stride, int rows);

// Transform of rows of n reals to n/2 + 1 complex numbers each, as pairs, and back; unscaled.
class RowFourier {
 public:
  explicit RowFourier(int size);

  // Number of reals that the complex numbers of a row occupy.
  int width() const { return 2 * (size_ / 2 + 1); }
  // Reads the first `points` numbers of a row; the others are zero. `modes` may alias the rows.
  void forward(const double* first, std::ptrdiff_t row_stride, int rows, int points, double* modes,
               std::ptrdiff_t modes_stride);
  // Writes the first `points` numbers of a row, times a factor.
  void backward(const double* modes, std::ptrdiff_t modes_stride, int rows, int points,
                double factor, double* first, std::ptrdiff_t row_stride);

 private:
  int size_;
  std::unique_ptr<Transform> forward_, backward_;
  Buffer lines_;
};

}  // namespace octant::pencil
