#include "pencil/batched_transform.hpp"

#include <algorithm>
#include <utility>

#include "core/kernel_work.hpp"
#include "pencil/fft_work.hpp"
#include "pencil/plane_transform.hpp"
#include "pencil/spectrum.hpp"

namespace octant::pencil {

namespace {

// The unknown rows that a rank of a row of ranks holds, in the whole array.
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

// A thread takes some planes. Blocks of columns are gathered for the transform along y, which wants
// them contiguous.
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

  // `length`: of the lines that are transformed.
  template <class OfPlane>
  static void for_planes(const char* name, const FieldView& view, int length,
                         const OfPlane& of_plane) {
    announce_kernel(name, std::int64_t{view.nx} * view.ny * view.nz,
                    {16.0, fft_operations(length)});
    in_team(name, [&](const Team& team) {
      const Range own = team.share(view.nz);
      for (int k = own.begin; k < own.end; ++k) of_plane(team, k);
    });
  }

  // A last block that is not full is padded with zeros.
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
