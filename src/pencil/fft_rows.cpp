#include "pencil/fft.hpp"

#include <algorithm>

namespace octant::pencil {

namespace {

using Pair = double __attribute__((vector_size(2 * sizeof(double))));
using Quad = double __attribute__((vector_size(4 * sizeof(double))));

// Loads and stores need no alignment beyond that of a double. Quads are passed by reference,
// because their calling convention depends on the processor.
Pair load(const double* from) {
  Pair pair;
  __builtin_memcpy(&pair, from, sizeof pair);
  return pair;
}
void store(const Quad& quad, double* to) { __builtin_memcpy(to, &quad, sizeof quad); }

constexpr int k_tile = 4;

// Transposed square tile. Halves of rows are combined when they are loaded, which saves shuffles.
struct Tile {
  Quad rows[k_tile];

  Tile(const double* first, std::ptrdiff_t stride)
      : Tile(first, first + stride, first + 2 * stride, first + 3 * stride) {}
  Tile(const double* a, const double* b, const double* c, const double* d) {
    for (int half = 0; half < k_tile; half += 2) {
      Quad ac, bd;
      join(a + half, c + half, ac), join(b + half, d + half, bd);
      rows[half] = __builtin_shufflevector(ac, bd, 0, 4, 2, 6);
      rows[half + 1] = __builtin_shufflevector(ac, bd, 1, 5, 3, 7);
    }
  }

 private:
  static void join(const double* low, const double* high, Quad& quad) {
    quad = __builtin_shufflevector(load(low), load(high), 0, 1, 2, 3);
  }
};

}  // namespace

// Copies rows to lines: first whole tiles, then the remaining points.
void gather_rows(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                 double* lines) {
  const double* row[k_lines];
  for (int n = 0; n < k_lines; ++n) row[n] = first + std::min(n, rows - 1) * row_stride;
  int i = 0;
  for (; i + k_tile <= points; i += k_tile)
    for (int line = 0; line < k_lines; line += k_tile) {
      const Tile tile(row[line] + i, row[line + 1] + i, row[line + 2] + i, row[line + 3] + i);
      for (int n = 0; n < k_tile; ++n) store(tile.rows[n], lines + (i + n) * k_lines + line);
    }
  for (; i < points; ++i)
    for (int line = 0; line < k_lines; ++line) lines[i * k_lines + line] = row[line][i];
}

void scatter_rows(const double* lines, int points, double factor, double* first,
                  std::ptrdiff_t row_stride, int rows) {
  int i = 0;
  for (; i + k_tile <= points; i += k_tile)
    for (int line = 0; line < rows; line += k_tile) {
      const Tile tile(lines + i * k_lines + line, k_lines);
      double* row = first + line * row_stride + i;
      if (line + k_tile <= rows)  // constant bound: rows stay in registers
        for (int n = 0; n < k_tile; ++n) store(factor * tile.rows[n], row + n * row_stride);
      else
        for (int n = 0; line + n < rows; ++n) store(factor * tile.rows[n], row + n * row_stride);
    }
  for (; i < points; ++i)
    for (int line = 0; line < rows; ++line)
      first[line * row_stride + i] = factor * lines[i * k_lines + line];
}

// The Transform operates on r_0 r_1 i_1 .., stored from index 1 on; modes are r_0 0 r_1 i_1 ..
RowFourier::RowFourier(int size)
    : size_(size),
      forward_(make_transform(TransformKind::real_to_halfcomplex, size)),
      backward_(make_transform(TransformKind::halfcomplex_to_real, size)),
      lines_(static_cast<std::size_t>(width()) * k_lines) {}

void RowFourier::forward(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                         double* modes, std::ptrdiff_t modes_stride) {
  double *lines = lines_.data(), *second = lines + k_lines, *end = lines + lines_.size();
  for (int j = 0; j < rows; j += k_lines) {
    const int count = std::min(rows - j, k_lines);
    gather_rows(first + j * row_stride, row_stride, count, points, second);
    std::fill(second + points * k_lines, end, 0.0);
    forward_->execute(second, k_lines);
    std::copy_n(second, k_lines, lines);
    std::fill_n(second, k_lines, 0.0);
    scatter_rows(lines, width(), 1.0, modes + j * modes_stride, modes_stride, count);
  }
}

void RowFourier::backward(const double* modes, std::ptrdiff_t modes_stride, int rows, int points,
                          double factor, double* first, std::ptrdiff_t row_stride) {
  double *lines = lines_.data(), *second = lines + k_lines;
  for (int j = 0; j < rows; j += k_lines) {
    const int count = std::min(rows - j, k_lines);
    gather_rows(modes + j * modes_stride, modes_stride, count, width(), lines);
    std::copy_n(lines, k_lines, second);
    backward_->execute(second, k_lines);
    scatter_rows(second, points, factor, first + j * row_stride, row_stride, count);
  }
}

}  // namespace octant::pencil
