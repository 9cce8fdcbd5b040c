// Transforms of all planes by one library call for all lines along x and one along y, where both
// axes are periodic; other conditions need kernels around theirs (line_transform.hpp).
//
// A periodic row of n reals has its n / 2 + 1 complex coefficients as the library gives them:
// nothing is packed.
#include <algorithm>

#include "pencil/batched_transform.hpp"
#include "pencil/line_transform.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {

namespace {

// Both parts of each complex coefficient have its eigenvalue.
std::vector<double> of_both_parts(const std::vector<double>& eigenvalues) {
  std::vector<double> twice;
  for (std::size_t m = 0; 2 * m <= eigenvalues.size(); ++m)
    twice.insert(twice.end(), {eigenvalues[m], eigenvalues[m]});
  return twice;
}

std::vector<double> eigenvalues_of_rows(const UniformAxis& x) {
  check_axis(x, "x");
  return x.conditions.periodic() ? of_both_parts(eigenvalues(x)) : eigenvalues(x);
}

class LinesOfDevice final : public BatchedTransform {
 public:
  explicit LinesOfDevice(const Setting& setting);

 private:
  void forward_x(const FieldView& field, const FieldView& rows) override;
  void backward_x(const FieldView& rows, const FieldView& field) override;
  void forward_y(const FieldView& columns) override;
  void backward_y(const FieldView& columns) override;

  FieldView unknowns_of(const FieldView& field, const FieldView& rows) const {
    return part_of(field, {0, x_size_}, {0, rows.ny}, {0, rows.nz});
  }
  static LineSet rows_of(const FieldView& view) {
    return {view.first, 1, view.row_stride, view.ny, view.plane_stride};
  }
  static LineSet columns_of(const FieldView& view) {
    return {view.first, view.row_stride, 1, view.nx, view.plane_stride};
  }

  int x_size_;
  double scale_;
  // Of each axis one or the other: the former where x, or both axes, are periodic.
  std::unique_ptr<ManyFft> x_fourier_, y_fourier_;
  std::unique_ptr<LineTransform> x_forward_, x_backward_, y_forward_, y_backward_;
};

LinesOfDevice::LinesOfDevice(const Setting& setting)
    : BatchedTransform(setting, eigenvalues_of_rows(setting.x)),
      x_size_(unknowns(setting.x.entries, setting.x.conditions)) {
  const int y_size = static_cast<int>(y_eigenvalues().size());
  const TransformPair along_x = transform_of(setting.x.conditions, x_size_);
  const TransformPair along_y = transform_of(setting.y.conditions, y_size);
  scale_ = 1.0 / (along_x.scale * along_y.scale);
  const bool x_periodic = setting.x.conditions.periodic();
  const bool y_periodic = setting.y.conditions.periodic();

  // A rank without lines has plans, too, for libraries know none of no line.
  const FieldView by_row = rows(), by_column = coefficients();
  const int lines = std::max(by_row.ny * by_row.nz, 1);
  if (x_periodic) {
    x_fourier_ = make_real_fft(x_size_, lines, static_cast<int>(by_row.plane_stride));
  } else {
    x_forward_ = std::make_unique<LineTransform>(along_x.forward, x_size_, lines, true);
    x_backward_ = std::make_unique<LineTransform>(along_x.backward, x_size_, lines, true);
  }
  if (x_periodic && y_periodic) {
    const int together = std::max(static_cast<int>(by_column.row_stride / 2), 1);
    y_fourier_ = make_complex_fft({y_size, together, together, 1});
  } else {
    const int columns = std::max(by_column.nx * by_column.nz, 1);
    y_forward_ = std::make_unique<LineTransform>(along_y.forward, y_size, columns, false);
    y_backward_ = std::make_unique<LineTransform>(along_y.backward, y_size, columns, false);
  }
}

void LinesOfDevice::forward_x(const FieldView& field, const FieldView& rows) {
  const FieldView values = unknowns_of(field, rows);
  if (!x_fourier_) return x_forward_->execute(rows_of(values), rows_of(rows), scale_);
  copy_cells(values, unknowns_of(rows, rows), scale_);
  x_fourier_->forward(rows.first);
}

void LinesOfDevice::backward_x(const FieldView& rows, const FieldView& field) {
  const FieldView values = unknowns_of(field, rows);
  if (!x_fourier_) return x_backward_->execute(rows_of(rows), rows_of(values));
  x_fourier_->backward(rows.first);
  copy_cells(unknowns_of(rows, rows), values);
}

void LinesOfDevice::forward_y(const FieldView& columns) {
  if (y_fourier_) y_fourier_->forward(columns.first);
  else y_forward_->execute(columns_of(columns), columns_of(columns));
}

void LinesOfDevice::backward_y(const FieldView& columns) {
  if (y_fourier_) y_fourier_->backward(columns.first);
  else y_backward_->execute(columns_of(columns), columns_of(columns));
}

}  // namespace

std::unique_ptr<BatchedTransform> make_kernel_transform(const BatchedTransform::Setting& setting) {
  return std::make_unique<LinesOfDevice>(setting);
}

}  // namespace octant::pencil
