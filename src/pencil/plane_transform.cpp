#include "pencil/plane_transform.hpp"

#include <algorithm>
#include <cstdint>

#include "core/error.hpp"

namespace octant::pencil {

namespace {

bool is_aligned(const double* address) {
  constexpr std::uintptr_t k_alignment = 16;
  return reinterpret_cast<std::uintptr_t>(address) % k_alignment == 0;
}

std::vector<double> packed_eigenvalues(const UniformAxis& x) {
  const std::vector<double> values = eigenvalues(x);
  if (!x.conditions.periodic()) return values;
  const auto n = static_cast<int>(values.size());
  // The second number of an odd row is always 0: any eigenvalue but 0 will do.
  const double unused = -1.0 / (x.spacing * x.spacing);
  std::vector<double> packed{values[0], n % 2 == 0 ? values[n / 2] : unused};
  for (int m = 1; 2 * m < n; ++m) packed.insert(packed.end(), {values[m], values[m]});
  return packed;
}

}  // namespace

TransformPair transform_of(const AxisConditions& conditions, int unknowns) {
  using enum TransformKind;
  const double n = unknowns;
  if (conditions.periodic()) return {real_to_halfcomplex, halfcomplex_to_real, n};
  const bool lower = conditions.lower == Condition::dirichlet;
  const bool upper = conditions.upper == Condition::dirichlet;
  if (conditions.location == Location::inner_face && lower != upper) {
    if (lower) return {dst7, dst6, 2 * n + 1};
    return {dct8, dct8, 2 * n + 1};
  }
  if (conditions.location == Location::inner_face && !lower) return {dct2, dct3, 2 * n};
  if (conditions.location == Location::centre) {
    if (lower && upper) return {dst2, dst3, 2 * n};
    if (lower) return {dst4, dst4, 2 * n};
    if (upper) return {dct4, dct4, 2 * n};
    return {dct2, dct3, 2 * n};
  }
  if (lower && upper) return {dst1, dst1, 2 * (n + 1)};
  if (lower) return {dst3, dst2, 2 * n};
  if (upper) return {dct3, dct2, 2 * n};
  return {dct1, dct1, 2 * (n - 1)};
}

void check_axis(const UniformAxis& axis, const std::string& name) {
  check_conditions(axis.conditions, name);
  const int n = unknowns(axis.entries, axis.conditions);
  const bool dct1 = axis.conditions.location == Location::face &&
                    axis.conditions.lower == Condition::neumann &&
                    axis.conditions.upper == Condition::neumann;
  if (n < (dct1 ? 2 : 1))
    throw InputError("{} cell(s) along {} are too few for boundaries that are {}", axis.entries,
                     name, to_string(axis.conditions));
}

PlaneTransform::PlaneTransform(const UniformAxis& x, const UniformAxis& y, bool measured)
    : x_periodic_(x.conditions.periodic()),
      y_periodic_(y.conditions.periodic()),
      y_complex_(x_periodic_ && y_periodic_),
      x_size_(unknowns(x.entries, x.conditions)),
      y_size_(unknowns(y.entries, y.conditions)) {
  check_axis(x, "x");
  check_axis(y, "y");
  using enum TransformKind;
  const auto make = [&](TransformKind kind, TransformShape shape, int size) {
    return make_transform(kind, shape, size, measured);
  };
  const TransformPair along_x = transform_of(x.conditions, x_size_);
  const TransformPair along_y = transform_of(y.conditions, y_size_);
  x_forward_ = make(x_periodic_ ? real_to_complex : along_x.forward, TransformShape::row, x_size_);
  x_backward_ =
      make(x_periodic_ ? complex_to_real : along_x.backward, TransformShape::row, x_size_);
  y_forward_ =
      make(y_complex_ ? complex_forward : along_y.forward, TransformShape::columns, y_size_);
  y_backward_ =
      make(y_complex_ ? complex_backward : along_y.backward, TransformShape::columns, y_size_);
  scale_ = 1.0 / (along_x.scale * along_y.scale);
  x_eigenvalues_ = packed_eigenvalues(x);
  y_eigenvalues_ = eigenvalues(y);
  stride_ = (x_size_ + 2 + k_columns - 1) / k_columns * k_columns;
  scratch_ = Buffer(2 * static_cast<std::size_t>(stride_) * team_size());
}

void PlaneTransform::forward_x(const Team& team, const double* row, int j,
                               std::span<const RowPiece> coefficients) {
  double *packed = coefficients_of(team), *aligned = row_of(team);
  if (is_aligned(row)) {
    x_forward_->execute(const_cast<double*>(row), packed);  // the plan keeps its input
  } else {
    std::copy_n(row, x_size_, aligned);
    x_forward_->execute(aligned, packed);
  }
  if (x_periodic_ && x_size_ % 2 == 0) packed[1] = packed[x_size_];
  for (const RowPiece& piece : coefficients) {
    const double* from = packed + piece.x.begin;
    double* to = piece.first + j * piece.row_stride;
    for (int i = 0; i < piece.x.count(); ++i) to[i] = scale_ * from[i];
  }
}

void PlaneTransform::backward_x(const Team& team, std::span<const RowPiece> coefficients, int j,
                                double* row) {
  double *packed = coefficients_of(team), *aligned = row_of(team);
  for (const RowPiece& piece : coefficients) {
    const double* from = piece.first + j * piece.row_stride;
    double* to = packed + piece.x.begin;
    if (piece.x.count() == k_columns) std::copy_n(from, k_columns, to);
    else std::copy_n(from, piece.x.count(), to);
  }
  if (x_periodic_) {
    if (x_size_ % 2 == 0) packed[x_size_] = packed[1], packed[x_size_ + 1] = 0.0;
    packed[1] = 0.0;
  }
  if (is_aligned(row)) {
    x_backward_->execute(packed, row);
    return;
  }
  x_backward_->execute(packed, aligned);
  std::copy_n(aligned, x_size_, row);
}

void PlaneTransform::forward_y(double* columns, bool first) const {
  y_forward_->execute(columns, columns);
  if (y_complex_ && first) take_pair_apart(columns);
}

void PlaneTransform::backward_y(double* columns, bool first) const {
  if (y_complex_ && first) join_pair(columns);
  y_backward_->execute(columns, columns);
}

// The transform of a + i b with real columns a and b is Z = A + i B. Rows m and n - m take the real
// parts of A_m and B_m, and their imaginary parts: so each number keeps its column's eigenvalue.
void PlaneTransform::take_pair_apart(double* columns) const {
  for (int m = 1; 2 * m < y_size_; ++m) {
    double *z = columns + m * k_columns, *mirror = columns + (y_size_ - m) * k_columns;
    const double a_real = 0.5 * (z[0] + mirror[0]), a_imaginary = 0.5 * (z[1] - mirror[1]);
    const double b_real = 0.5 * (z[1] + mirror[1]), b_imaginary = 0.5 * (mirror[0] - z[0]);
    z[0] = a_real, z[1] = b_real;
    mirror[0] = a_imaginary, mirror[1] = b_imaginary;
  }
}

void PlaneTransform::join_pair(double* columns) const {
  for (int m = 1; 2 * m < y_size_; ++m) {
    double *z = columns + m * k_columns, *mirror = columns + (y_size_ - m) * k_columns;
    const double a_real = z[0], b_real = z[1], a_imaginary = mirror[0], b_imaginary = mirror[1];
    z[0] = a_real - b_imaginary, z[1] = a_imaginary + b_real;
    mirror[0] = a_real + b_imaginary, mirror[1] = b_real - a_imaginary;
  }
}

}  // namespace octant::pencil
