#include "pencil/rows.hpp"

#include <algorithm>

#include "pencil/vectors.hpp"

namespace octant::pencil {

// Tiles of k_vector points of as many rows, then the points that fill none.
void gather_rows(const double* first, std::ptrdiff_t row_stride, int rows, int points,
                 double* lines) {
  const auto row = [=](int n) { return first + std::min(n, rows - 1) * row_stride; };
  int i = 0;
  for (; i + k_vector <= points; i += k_vector)
    for (int line = 0; line < k_lines; line += k_vector) {
      Vector tile[k_vector];
      for (int n = 0; n < k_vector; ++n) tile[n] = load(row(line + n) + i);
      transpose(tile);
      for (int n = 0; n < k_vector; ++n) store(tile[n], lines + (i + n) * k_lines + line);
    }
  for (; i < points; ++i)
    for (int line = 0; line < k_lines; ++line) lines[i * k_lines + line] = row(line)[i];
}

void scatter_rows(const double* lines, int points, double factor, double* first,
                  std::ptrdiff_t row_stride, int rows) {
  int i = 0;
  for (; i + k_vector <= points; i += k_vector)
    for (int line = 0; line < rows; line += k_vector) {
      Vector tile[k_vector];
      for (int n = 0; n < k_vector; ++n) tile[n] = factor * load(lines + (i + n) * k_lines + line);
      transpose(tile);
      for (int n = 0; n < k_vector && line + n < rows; ++n)
        store(tile[n], first + (line + n) * row_stride + i);
    }
  for (; i < points; ++i)
    for (int line = 0; line < rows; ++line)
      first[line * row_stride + i] = factor * lines[i * k_lines + line];
}

// Transforms have r_0 r_1 i_1 .. behind the first number.
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
