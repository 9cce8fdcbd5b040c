#include "pencil/batched_transform.hpp"

#include <algorithm>
#include <utility>

#include "pencil/plane_transform.hpp"

namespace octant::pencil {

namespace {

// A thread takes some planes through both transforms. Blocks of columns are gathered for the
// transform along y, which wants them contiguous.
class PlanesOfHost final : public BatchedTransform {
 public:
  PlanesOfHost(const UniformAxis& x, const UniformAxis& y, int planes,
               std::shared_ptr<BatchedMemory> memory)
      : transform_(x, y, false),
        y_size_(unknowns(y.entries, y.conditions)),
        planes_(planes),
        row_stride_(whole_blocks() * k_columns),
        memory_(std::move(memory)),
        blocks_(static_cast<std::size_t>(k_columns) * y_size_ * team_size()) {
    memory_->reserve(static_cast<std::size_t>(row_stride_) * y_size_ * planes);
  }

  const std::vector<double>& x_eigenvalues() const override { return transform_.x_eigenvalues(); }
  const std::vector<double>& y_eigenvalues() const override { return transform_.y_eigenvalues(); }

  FieldView coefficients() const override {
    return {memory_->data(),    row_stride_, row_stride_ * y_size_,
            transform_.width(), y_size_,     planes_};
  }

  void forward(const FieldView& field) override {
    in_team("pencil: transform", [&](const Team& team) {
      const Range own = team.share(planes_);
      for (int k = own.begin; k < own.end; ++k) forward_plane(team, k, field);
    });
  }
  void backward(const FieldView& field) override {
    in_team("pencil: transform back", [&](const Team& team) {
      const Range own = team.share(planes_);
      for (int k = own.begin; k < own.end; ++k) backward_plane(team, k, field);
    });
  }

 private:
  int whole_blocks() const { return (transform_.width() + k_columns - 1) / k_columns; }
  RowPiece row_of_coefficients(int k) const {
    return {{0, transform_.width()}, coefficients().row(k, 0), row_stride_};
  }
  double* block_of(const Team& team) {
    return blocks_.data() + team.rank() * std::ptrdiff_t{k_columns} * y_size_;
  }

  void forward_plane(const Team& team, int k, const FieldView& field) {
    const RowPiece row = row_of_coefficients(k);
    for (int j = 0; j < y_size_; ++j) transform_.forward_x(team, field.row(k, j), j, {&row, 1});
    along_y(team, k, [&](double* block, bool first) { transform_.forward_y(block, first); });
  }
  void backward_plane(const Team& team, int k, const FieldView& field) {
    along_y(team, k, [&](double* block, bool first) { transform_.backward_y(block, first); });
    const RowPiece row = row_of_coefficients(k);
    for (int j = 0; j < y_size_; ++j) transform_.backward_x(team, {&row, 1}, j, field.row(k, j));
  }

  // A last block that is not full is padded with zeros.
  template <class OfBlock>
  void along_y(const Team& team, int k, const OfBlock& transform) {
    double* block = block_of(team);
    for (int n = 0; n < whole_blocks(); ++n) {
      double* columns = coefficients().row(k, 0) + n * k_columns;
      const int used = std::min(transform_.width() - n * k_columns, k_columns);
      for (int j = 0; j < y_size_; ++j) {
        double* row = block + j * k_columns;
        std::fill(std::copy_n(columns + j * row_stride_, used, row), row + k_columns, 0.0);
      }
      transform(block, n == 0);
      for (int j = 0; j < y_size_; ++j)
        std::copy_n(block + j * k_columns, used, columns + j * row_stride_);
    }
  }

  PlaneTransform transform_;
  int y_size_, planes_;
  std::ptrdiff_t row_stride_;
  std::shared_ptr<BatchedMemory> memory_;  // [plane][row][column]
  Buffer blocks_;                          // [thread][row][k_columns]
};

}  // namespace

std::unique_ptr<BatchedTransform> make_batched_transform(const UniformAxis& x, const UniformAxis& y,
                                                         int planes,
                                                         std::shared_ptr<BatchedMemory> memory) {
  if constexpr (k_device_is_host)
    return std::make_unique<PlanesOfHost>(x, y, planes, std::move(memory));
  else return make_kernel_transform(x, y, planes, std::move(memory));
}

}  // namespace octant::pencil
