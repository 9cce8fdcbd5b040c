#include "pencil/plane_transform.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "pencil/rows.hpp"

namespace octant::pencil {

namespace {

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

void execute_columns(const Transform& transform, bool are_complex, double* columns) {
  const int width = are_complex ? 2 * k_lines : k_lines;
  for (int n = 0; n < k_columns; n += width) transform.execute(columns + n, k_columns);
}

}  // namespace

std::vector<double> y_eigenvalues_of(const UniformAxis& x, const UniformAxis& y) {
  check_axis(y, "y");
  std::vector<double> values = eigenvalues(y);
  if (!y.conditions.periodic() || x.conditions.periodic()) return values;
  const std::vector<double> by_wave_number = values;
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = by_wave_number[(n + 1) / 2];
  return values;
}

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

PlaneTransform::PlaneTransform(const UniformAxis& x, const UniformAxis& y)
    : x_periodic_(x.conditions.periodic()),
      y_periodic_(y.conditions.periodic()),
      y_complex_(x_periodic_ && y_periodic_),
      x_size_(unknowns(x.entries, x.conditions)),
      y_size_(unknowns(y.entries, y.conditions)) {
  check_axis(x, "x");
  check_axis(y, "y");
  using enum TransformKind;
  const TransformPair along_x = transform_of(x.conditions, x_size_);
  const TransformPair along_y = transform_of(y.conditions, y_size_);
  x_forward_ = make_transform(along_x.forward, x_size_);
  x_backward_ = make_transform(along_x.backward, x_size_);
  y_forward_ = make_transform(y_complex_ ? complex_forward : along_y.forward, y_size_);
  y_backward_ = make_transform(y_complex_ ? complex_backward : along_y.backward, y_size_);
  scale_ = 1.0 / (along_x.scale * along_y.scale);
  x_eigenvalues_ = packed_eigenvalues(x);
  y_eigenvalues_ = y_eigenvalues_of(x, y);
  lines_stride_ = (width() + 1) * k_lines;
  lines_ = Buffer(static_cast<std::size_t>(lines_stride_) * team_size());
}

// A transform leaves r_0 r_1 i_1 .. behind the first place.
void PlaneTransform::forward_x(const Team& team, const double* first, std::ptrdiff_t row_stride,
                               Range rows, std::span<const RowPiece> coefficients) {
  double *packed = lines_of(team), *points = x_periodic_ ? packed + k_lines : packed;
  for (int j = rows.begin; j < rows.end; j += k_lines, first += k_lines * row_stride) {
    const int count = std::min(rows.end - j, k_lines);
    gather_rows(first, row_stride, count, x_size_, points);
    x_forward_->execute(points, k_lines);
    if (x_periodic_) pack(packed);
    for (const auto& [x, to, to_stride] : coefficients)
      scatter_rows(packed + x.begin * k_lines, x.count(), scale_, to + j * to_stride, to_stride,
                   count);
  }
}

void PlaneTransform::backward_x(const Team& team, std::span<const RowPiece> coefficients,
                                Range rows, double* first, std::ptrdiff_t row_stride) {
  double *packed = lines_of(team), *points = x_periodic_ ? packed + k_lines : packed;
  for (int j = rows.begin; j < rows.end; j += k_lines, first += k_lines * row_stride) {
    const int count = std::min(rows.end - j, k_lines);
    for (const auto& [x, from, from_stride] : coefficients)
      gather_rows(from + j * from_stride, from_stride, count, x.count(),
                  packed + x.begin * k_lines);
    if (x_periodic_) unpack(packed);
    x_backward_->execute(points, k_lines);
    scatter_rows(points, x_size_, 1.0, first, row_stride, count);
  }
}

void PlaneTransform::pack(double* packed) const {
  double* second = packed + k_lines;
  std::copy_n(second, k_lines, packed);
  if (x_size_ % 2 == 0) std::copy_n(packed + x_size_ * k_lines, k_lines, second);
  else std::fill_n(second, k_lines, 0.0);
}

void PlaneTransform::unpack(double* packed) const {
  double* second = packed + k_lines;
  if (x_size_ % 2 == 0) std::copy_n(second, k_lines, packed + x_size_ * k_lines);
  std::copy_n(packed, k_lines, second);
}

void PlaneTransform::forward_y(double* columns, bool first) const {
  execute_columns(*y_forward_, y_complex_, columns);
  if (y_complex_ && first) take_pair_apart(columns);
}

void PlaneTransform::backward_y(double* columns, bool first) const {
  if (y_complex_ && first) join_pair(columns);
  execute_columns(*y_backward_, y_complex_, columns);
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
