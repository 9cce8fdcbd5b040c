#include "pencil/plane_transform.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/observer.hpp"
#include "pencil/line_transform.hpp"
#include "pencil/y_pass.hpp"

namespace octant::pencil {

namespace {

std::vector<double> packed_eigenvalues(const UniformAxis& x) {
  std::vector<double> values = eigenvalues(x);
  if (!x.conditions.periodic()) return values;
  const auto n = static_cast<int>(values.size());
  // The second coefficient of a row of odd length is always 0; any nonzero eigenvalue is valid.
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
    throw InputError("{} cell(s) along {} are too few for {} boundaries", axis.entries, name,
                     to_string(axis.conditions));
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

// The transform stores r_0 r_1 i_1 .. from index 1 of a line on.
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

// Separates the transform Z = A + i B of a + i b with real columns a and b. Row m stores the real
// parts of A_m and B_m, row n - m the imaginary parts, so that each column has one eigenvalue in x.
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

// --- all planes at once --------------------------------------------------------------------------

namespace {

// Returns the unknown rows, in global indices, of the rank with index `y_index` along y.
Range rows_of(const PencilGrid& grid, int y_index, int unknown) {
  const Box box = grid.box(Orientation::x, grid.rank_of(y_index, grid.z_index()));
  return intersection(box[1], {0, unknown});
}

}  // namespace

BatchedTransform::BatchedTransform(const Setting& s, std::vector<double> x_eigenvalues)
    : planes_(s.planes),
      x_eigenvalues_(std::move(x_eigenvalues)),
      y_eigenvalues_(y_eigenvalues_of(s.x, s.y)),
      memory_(s.memory) {
  const int width = static_cast<int>(x_eigenvalues_.size());
  const int y_size = static_cast<int>(y_eigenvalues_.size()), parts = s.grid.processes().y;
  const auto columns = [=](int rank) { return columns_of(width, parts, rank); };
  const auto own_rows = [=, grid = s.grid](int rank) { return rows_of(grid, rank, y_size); };
  rows_ = own_rows(s.grid.y_index());
  columns_ = columns(s.grid.y_index());
  const auto reserve = [&](BatchedMemory::Area area, const FieldView& view) {
    memory_->reserve(area, static_cast<std::size_t>(view.row_stride) * view.ny);
  };
  reserve(BatchedMemory::coefficients, rows());
  if (parts == 1) return;
  reserve(BatchedMemory::columns, coefficients());
  const Range planes{0, planes_};
  transpose_.emplace(
      "x-y transpose", s.grid.row(),
      [=](int rank) {
        return Box{Range{0, width}, own_rows(rank), planes};
      },
      [=](int rank) {
        return Box{columns(rank), Range{0, y_size}, planes};
      },
      s.comm, memory_);
}

std::vector<double> BatchedTransform::x_eigenvalues() const {
  return {x_eigenvalues_.begin() + columns_.begin, x_eigenvalues_.begin() + columns_.end};
}

FieldView BatchedTransform::view(BatchedMemory::Area area, int columns, int rows) const {
  const std::ptrdiff_t plane_stride = (columns + k_columns - 1) / k_columns * k_columns;
  return {memory_->data(area), plane_stride * planes_, plane_stride, columns, rows, planes_};
}

FieldView BatchedTransform::rows() const {
  return view(BatchedMemory::coefficients, static_cast<int>(x_eigenvalues_.size()), rows_.count());
}

FieldView BatchedTransform::coefficients() const {
  return view(transpose_ ? BatchedMemory::columns : BatchedMemory::coefficients, columns_.count(),
              static_cast<int>(y_eigenvalues_.size()));
}

void BatchedTransform::forward(const FieldView& field) {
  if (!is_empty(rows())) forward_x(field, rows());
  if (transpose_) transpose_->forward(rows(), coefficients());
  if (!is_empty(coefficients())) forward_y(coefficients());
}

void BatchedTransform::backward(const FieldView& field) {
  if (!is_empty(coefficients())) backward_y(coefficients());
  if (transpose_) transpose_->backward(coefficients(), rows());
  if (!is_empty(rows())) backward_x(rows(), field);
}

namespace {

// Transform on a host, in which each thread processes some of the planes. Blocks of columns are
// copied to contiguous memory for the transform along y.
class PlanesOfHost final : public BatchedTransform {
 public:
  explicit PlanesOfHost(const Setting& s)
      : PlanesOfHost(s, std::make_unique<PlaneTransform>(s.x, s.y)) {}

 private:
  PlanesOfHost(const Setting& s, std::unique_ptr<PlaneTransform> transform)
      : BatchedTransform(s, transform->x_eigenvalues()),
        transform_(std::move(transform)),
        y_size_(static_cast<int>(transform_->y_eigenvalues().size())),
        blocks_(static_cast<std::size_t>(k_columns) * y_size_ * team_size()) {}

  void forward_x(const FieldView& field, const FieldView& rows) override {
    for_planes("pencil: transform", rows, rows.nx, [&](const Team& team, int k) {
      const RowPiece row{{0, rows.nx}, rows.row(k, 0), rows.row_stride};
      transform_->forward_x(team, field.row(k, 0), field.row_stride, {0, rows.ny}, {&row, 1});
    });
  }
  void backward_x(const FieldView& rows, const FieldView& field) override {
    for_planes("pencil: transform back", rows, rows.nx, [&](const Team& team, int k) {
      const RowPiece row{{0, rows.nx}, rows.row(k, 0), rows.row_stride};
      transform_->backward_x(team, {&row, 1}, {0, rows.ny}, field.row(k, 0), field.row_stride);
    });
  }
  void forward_y(const FieldView& columns) override {
    along_y("pencil: transform", columns,
            [&](double* block, bool first) { transform_->forward_y(block, first); });
  }
  void backward_y(const FieldView& columns) override {
    along_y("pencil: transform back", columns,
            [&](double* block, bool first) { transform_->backward_y(block, first); });
  }

  // Calls of_plane(team, k) for all planes; `length` is the number of points of transformed lines.
  template <class OfPlane>
  static void for_planes(const char* name, const FieldView& view, int length,
                         const OfPlane& of_plane) {
    record_kernel_work(name, std::int64_t{view.nx} * view.ny * view.nz,
                       {16.0, fft_operations(length)});
    in_team(name, [&](const Team& team) {
      const Range own = team.share(view.nz);
      for (int k = own.begin; k < own.end; ++k) of_plane(team, k);
    });
  }

  // Transforms the columns block by block; an incomplete last block is padded with zeros.
  template <class OfBlock>
  void along_y(const char* name, const FieldView& columns, const OfBlock& transform) {
    for_planes(name, columns, y_size_, [&](const Team& team, int k) {
      double* block = blocks_.data() + team.rank() * std::ptrdiff_t{k_columns} * y_size_;
      for (int begin = 0; begin < columns.nx; begin += k_columns) {
        const int used = std::min(columns.nx - begin, k_columns);
        for (int j = 0; j < y_size_; ++j) {
          double* row = block + j * k_columns;
          std::fill(std::copy_n(columns.row(k, j) + begin, used, row), row + k_columns, 0.0);
        }
        transform(block, begin == 0 && has_first_column());
        for (int j = 0; j < y_size_; ++j)
          std::copy_n(block + j * k_columns, used, columns.row(k, j) + begin);
      }
    });
  }

  std::unique_ptr<PlaneTransform> transform_;
  int y_size_;
  Buffer blocks_;  // [thread][row][k_columns]
};

}  // namespace

std::unique_ptr<BatchedTransform> make_batched_transform(const BatchedTransform::Setting& setting) {
  if constexpr (k_device_is_host) return std::make_unique<PlanesOfHost>(setting);
  else return make_kernel_transform(setting);
}

}  // namespace octant::pencil
