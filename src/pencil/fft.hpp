// One-dimensional Fourier, cosine and sine transforms, independent of the FFT library.
//
// Reproducibility: the result of a line depends only on its values, not on adjacent lines or on the
// position of the line. On hosts DUCC (M. Reinecke's successor of FFTPACK) transforms each line in
// a separate SIMD lane, with the same operations for every vector width.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>

#include "pencil/field.hpp"

namespace octant::pencil {

// Kinds of unscaled transforms. DCT and DST types 1 to 4 are the standard ones. The basis functions
// of types 6 to 8 have an odd number of quarter periods in n + 1/2 points:
//   dst6  2 sum_j x_j sin(pi (j + 1/2) (k + 1) / (n + 1/2)),  dst7 its transpose,
//   dct8  2 sum_j x_j cos(pi (j + 1/2) (k + 1/2) / (n + 1/2)).
enum class TransformKind {
  complex_forward,      // n complex numbers
  complex_backward,     // inverse direction
  real_to_halfcomplex,  // n reals -> r_0 r_1 i_1 r_2 i_2 ..; for even n, r_(n/2) is the last
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

// Number of adjacent lines that are transformed together: a cache line of reals.
inline constexpr int k_lines = 8;
// Number of adjacent reals in a block of columns: two groups of real lines, or one group of complex
// lines.
inline constexpr int k_columns = 2 * k_lines;

// One-dimensional transform of many lines at once; unscaled.
class Transform {
 public:
  virtual ~Transform() = default;
  // Transforms k_lines lines in place. Each point holds k_lines adjacent reals (complex numbers for
  // complex kinds); points are `stride` doubles apart. Thread-safe.
  virtual void execute(double* lines, std::ptrdiff_t stride) const = 0;
};

// Makes a transform. Throws RunError if it does not exist (dct1 of one point).
std::unique_ptr<Transform> make_transform(TransformKind kind, int size);

// Fourier transforms of many lines at once in the memory of Kokkos' default execution space: by a
// GPU library, or on a host by the class Transform, so that the kernels can be tested there.

// Batch of `lines` lines of `length` numbers; strides count numbers.
struct FftLines {
  int length, lines, point_stride, line_stride;
};

// Unscaled in-place transform of a batch, executed in order with the kernels of the default
// execution space.
class ManyFft {
 public:
  virtual ~ManyFft() = default;
  // Transforms all lines from positions to wavenumbers; `first` is in device memory.
  virtual void forward(double* first) const = 0;
  // Computes the inverse transform without the factor 1 / length.
  virtual void backward(double* first) const = 0;
};

// Makes a transform of complex numbers. Throws RunError if the library cannot make the plan, and
// InputError if no library supports the memory of the default execution space.
std::unique_ptr<ManyFft> make_complex_fft(const FftLines& lines);

// Makes a transform of contiguous lines of reals to length / 2 + 1 complex numbers, with its
// inverse; line_stride counts reals and is even.
std::unique_ptr<ManyFft> make_real_fft(int length, int lines, int line_stride);

// Operations of a Fourier transform per real number, for a profile (core/observer.hpp). For every
// library, n real numbers count as 5/2 n log2 n operations and n complex numbers as 5 n log2 n
// (Frigo & Johnson, Proc. IEEE 93, 216, 2005).
inline double fft_operations(int n) { return 2.5 * std::log2(static_cast<double>(n)); }

// --- conversion between rows and adjacent lines --------------------------------------------------
//
// Copies `points` numbers of each of at most k_lines rows to [point][k_lines]. If there are fewer
// rows, the last row is repeated.
void gather_rows(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                 double* lines);

// Copies lines from [point][k_lines] to rows, times a factor.
void scatter_rows(const double* lines, int points, double factor, double* first,
                  std::ptrdiff_t row_stride, int rows);

// Unscaled transform of rows of n reals to n/2 + 1 complex numbers each, with its inverse.
class RowFourier {
 public:
  explicit RowFourier(int size);

  // Number of reals that the complex numbers of a row occupy.
  int width() const { return 2 * (size_ / 2 + 1); }
  // Transforms rows. Only the first `points` numbers of a row are read, the others are taken as
  // zero. `modes` may alias the rows.
  void forward(const double* first, std::ptrdiff_t row_stride, int rows, int points, double* modes,
               std::ptrdiff_t modes_stride);
  // Computes the inverse and writes the first `points` numbers of each row, times a factor.
  void backward(const double* modes, std::ptrdiff_t modes_stride, int rows, int points,
                double factor, double* first, std::ptrdiff_t row_stride);

 private:
  int size_;
  std::unique_ptr<Transform> forward_, backward_;
  Buffer lines_;
};

}  // namespace octant::pencil
