// Rows as lines side by side, which is how they are transformed, and back.
#pragma once

#include <cstddef>
#include <memory>

#include "pencil/buffer.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

// `points` numbers of each of at most k_lines rows -> [point][k_lines]. Lines beyond the rows that
// there are repeat the last one.
void gather_rows(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                 double* lines);

// And back, times a factor.
void scatter_rows(const double* lines, int points, double factor, double* first,
                  std::ptrdiff_t row_stride, int rows);

// Rows of n reals <-> n/2 + 1 complex numbers each, as pairs; unscaled.
class RowFourier {
 public:
  explicit RowFourier(int size);

  // Reals that have the room of the complex numbers of a row.
  int width() const { return 2 * (size_ / 2 + 1); }
  // The first `points` numbers of a row are given; the others are zero. `modes` may be the rows
  // themselves.
  void forward(const double* first, std::ptrdiff_t row_stride, int rows, int points, double* modes,
               std::ptrdiff_t modes_stride);
  // The first `points` numbers of a row are wanted, times a factor.
  void backward(const double* modes, std::ptrdiff_t modes_stride, int rows, int points,
                double factor, double* first, std::ptrdiff_t row_stride);

 private:
  int size_;
  std::unique_ptr<Transform> forward_, backward_;
  Buffer lines_;
};

}  // namespace octant::pencil
