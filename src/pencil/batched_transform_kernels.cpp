// Transforms of all planes by one library call for all lines along x and one along y, where both
// axes are periodic; other conditions need kernels around theirs (line_transform.hpp).
//
// Coefficients lie as [row][plane][column], so that all lines along y are one batch. A periodic row
// of n reals has its n / 2 + 1 complex coefficients as the library gives them: nothing is packed,
// as none of them travels.
#include <utility>

#include "pencil/batched_transform.hpp"
#include "pencil/line_transform.hpp"
#include "pencil/plane_transform.hpp"

namespace octant::pencil {

namespace {

using Cells3 = Kokkos::MDRangePolicy<Kokkos::Rank<3, Kokkos::Iterate::Left, Kokkos::Iterate::Left>,
                                     Kokkos::IndexType<int>>;

struct CopyScaled {
  FieldView from, to;
  double scale;

  KOKKOS_FUNCTION void operator()(int i, int j, int k) const {
    to.row(k, j)[i] = scale * from.row(k, j)[i];
  }
};

// Both parts of each complex coefficient have its eigenvalue.
std::vector<double> of_both_parts(const std::vector<double>& eigenvalues) {
  std::vector<double> twice;
  for (std::size_t m = 0; 2 * m <= eigenvalues.size(); ++m)
    twice.insert(twice.end(), {eigenvalues[m], eigenvalues[m]});
  return twice;
}

class LinesOfDevice final : public BatchedTransform {
 public:
  LinesOfDevice(const UniformAxis& x, const UniformAxis& y, int planes,
                std::shared_ptr<BatchedMemory> memory);

  const std::vector<double>& x_eigenvalues() const override { return x_eigenvalues_; }
  const std::vector<double>& y_eigenvalues() const override { return y_eigenvalues_; }
  FieldView coefficients() const override {
    return {memory_->data(), row_stride_, plane_stride_, width(), y_size_, planes_};
  }

  void forward(const FieldView& field) override;
  void backward(const FieldView& field) override;

 private:
  int width() const { return static_cast<int>(x_eigenvalues_.size()); }
  double* rows() const { return memory_->data(); }
  void copy(const FieldView& from, const FieldView& to, double scale) const {
    Kokkos::parallel_for("pencil: copy rows", Cells3({0, 0, 0}, {x_size_, y_size_, planes_}),
                         CopyScaled{from, to, scale});
  }
  LineSet rows_of(const FieldView& view) const {
    return {view.first, 1, view.row_stride, y_size_, view.plane_stride};
  }
  LineSet columns() const { return {rows(), row_stride_, 1, width(), plane_stride_}; }

  int x_size_, y_size_, planes_;
  double scale_;
  std::vector<double> x_eigenvalues_, y_eigenvalues_;
  std::ptrdiff_t row_stride_, plane_stride_;
  std::shared_ptr<BatchedMemory> memory_;
  // Of each axis one or the other: the former where x, or both axes, are periodic.
  std::unique_ptr<ManyFft> x_fourier_, y_fourier_;
  std::unique_ptr<LineTransform> x_forward_, x_backward_, y_forward_, y_backward_;
};

LinesOfDevice::LinesOfDevice(const UniformAxis& x, const UniformAxis& y, int planes,
                             std::shared_ptr<BatchedMemory> memory)
    : x_size_(unknowns(x.entries, x.conditions)),
      y_size_(unknowns(y.entries, y.conditions)),
      planes_(planes),
      x_eigenvalues_(eigenvalues(x)),
      y_eigenvalues_(eigenvalues(y)),
      memory_(std::move(memory)) {
  check_axis(x, "x");
  check_axis(y, "y");
  const TransformPair along_x = transform_of(x.conditions, x_size_);
  const TransformPair along_y = transform_of(y.conditions, y_size_);
  scale_ = 1.0 / (along_x.scale * along_y.scale);
  const bool x_periodic = x.conditions.periodic(), y_periodic = y.conditions.periodic();
  if (x_periodic) x_eigenvalues_ = of_both_parts(x_eigenvalues_);
  plane_stride_ = (width() + k_columns - 1) / k_columns * k_columns;
  row_stride_ = plane_stride_ * planes;
  memory_->reserve(static_cast<std::size_t>(row_stride_) * y_size_);

  const int stride = static_cast<int>(row_stride_), lines = y_size_ * planes;
  if (x_periodic) {
    x_fourier_ = make_real_fft(x_size_, lines, static_cast<int>(plane_stride_));
  } else {
    x_forward_ = std::make_unique<LineTransform>(along_x.forward, x_size_, lines, true);
    x_backward_ = std::make_unique<LineTransform>(along_x.backward, x_size_, lines, true);
  }
  if (x_periodic && y_periodic) {
    y_fourier_ = make_complex_fft({y_size_, stride / 2, stride / 2, 1});
  } else {
    const int columns = width() * planes;
    y_forward_ = std::make_unique<LineTransform>(along_y.forward, y_size_, columns, false);
    y_backward_ = std::make_unique<LineTransform>(along_y.backward, y_size_, columns, false);
  }
}

void LinesOfDevice::forward(const FieldView& field) {
  if (x_fourier_) {
    copy(field, coefficients(), scale_);
    x_fourier_->forward(rows());
  } else {
    x_forward_->execute(rows_of(field), rows_of(coefficients()), scale_);
  }
  if (y_fourier_) y_fourier_->forward(rows());
  else y_forward_->execute(columns(), columns());
}

void LinesOfDevice::backward(const FieldView& field) {
  if (y_fourier_) y_fourier_->backward(rows());
  else y_backward_->execute(columns(), columns());
  if (x_fourier_) {
    x_fourier_->backward(rows());
    copy(coefficients(), field, 1.0);
  } else {
    x_backward_->execute(rows_of(coefficients()), rows_of(field));
  }
}

}  // namespace

std::unique_ptr<BatchedTransform> make_kernel_transform(const UniformAxis& x, const UniformAxis& y,
                                                        int planes,
                                                        std::shared_ptr<BatchedMemory> memory) {
  return std::make_unique<LinesOfDevice>(x, y, planes, std::move(memory));
}

}  // namespace octant::pencil
