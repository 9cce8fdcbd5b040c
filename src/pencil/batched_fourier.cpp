#include "pencil/batched_fourier.hpp"

#include <algorithm>

namespace octant::pencil {

namespace {

// Complex numbers lie as pairs of doubles along x.
Range pairs(int count, int parts, int index) {
  const Range range = part(count, parts, index);
  return {2 * range.begin, 2 * range.end};
}

// Complex numbers as lines along y.
LineSet lines_of(const FieldView& columns) {
  return {columns.first, columns.row_stride, 2, columns.nx / 2, columns.plane_stride};
}

// A mode's two parts.
struct MultiplyMode {
  Kokkos::complex<double>* modes;
  const double* factors;

  KOKKOS_FUNCTION void operator()(std::int64_t n) const { modes[n] *= factors[n]; }
};

}  // namespace

Box BatchedFourier::x_box(int rank) const {
  const Box given = grid_.box(Orientation::x, rank);
  Box box{Range{0, 2 * half_}, Range{0, n_[1]}, Range{0, n_[2]}};
  if (grid_.processes().y > 1) box.range[1] = given[1];
  if (grid_.processes().z > 1) box.range[2] = given[2];
  return box;
}

Box BatchedFourier::y_box(int rank) const {
  const int parts = grid_.processes().y;
  const Range columns = pairs(half_, parts, rank % parts);
  return Box{columns, Range{0, n_[1]}, x_box(rank)[2]};
}

Box BatchedFourier::z_box(int rank) const {
  const ProcessGrid processes = grid_.processes();
  const Range rows = part(n_[1], processes.z, rank / processes.y);
  return Box{y_box(rank)[0], rows, Range{0, n_[2]}};
}

BatchedFourier::BatchedFourier(const PencilGrid& grid, Padding padding, const CommOptions& comm)
    : grid_(grid), padding_(padding), n_(padded(grid.cells(), padding)), half_(n_[0] / 2 + 1) {
  const auto messages = std::make_shared<BatchedMemory>();
  if (grid.processes().y > 1)
    xy_.emplace(
        "Fourier x-y", grid.row(),
        [&](int index) { return x_box(grid.rank_of(index, grid.z_index())); },
        [&](int index) { return y_box(grid.rank_of(index, grid.z_index())); }, comm, messages);
  if (grid.processes().z > 1)
    yz_.emplace(
        "Fourier y-z", grid.column(),
        [&](int index) { return y_box(grid.rank_of(grid.y_index(), index)); },
        [&](int index) { return z_box(grid.rank_of(grid.y_index(), index)); }, comm, messages);

  std::array<std::int64_t, 2> sizes{x_box(own()).cells(), 0};
  sizes[array_of_columns()] = std::max(sizes[array_of_columns()], y_box(own()).cells());
  sizes[array_of_depths()] = std::max(sizes[array_of_depths()], z_box(own()).cells());
  for (const int array : {0, 1})
    arrays_[array] = DeviceArray<double>("modes", static_cast<std::size_t>(sizes[array]));

  // A rank without lines has plans, too, for libraries know none of no line.
  const Cells x = x_box(own()).shape(), y = y_box(own()).shape(), z = z_box(own()).shape();
  const int columns = std::max(y[0] / 2 * y[2], 1), depths = std::max(z[0] / 2 * z[1], 1);
  x_ = make_real_fft(n_[0], std::max(x[1] * x[2], 1), 2 * half_);
  y_forward_ =
      std::make_unique<LineTransform>(TransformKind::complex_forward, n_[1], columns, false);
  y_backward_ =
      std::make_unique<LineTransform>(TransformKind::complex_backward, n_[1], columns, false);
  z_ = make_complex_fft({n_[2], depths, depths, 1});
}

FieldView BatchedFourier::values() const {
  const Cells given = grid_.box(Orientation::x).shape();
  return part_of(rows(), {0, given[0]}, {0, given[1]}, {0, given[2]});
}

std::vector<double> BatchedFourier::of_modes(
    const std::function<double(const Mode&)>& number) const {
  const Box box = z_box(own());
  const Cells shape = box.shape();
  const int modes_x = shape[0] / 2;
  std::vector<double> all(static_cast<std::size_t>(box.cells() / 2));
  for (int y = 0; y < shape[1]; ++y)
    for (int x = 0; x < modes_x; ++x)
      for (int z = 0; z < shape[2]; ++z) {
        const std::int64_t place = (std::int64_t{z} * shape[1] + y) * modes_x + x;
        all[place] = number(mode_at(box[0].begin / 2 + x, box[1].begin + y, z, n_));
      }
  return all;
}

void BatchedFourier::forward() {
  if (!is_empty(rows())) x_->forward(rows().first);
  if (xy_) {
    clear_if_padded(array_of_columns());
    xy_->forward(rows(), columns());
  }
  if (!is_empty(columns())) y_forward_->execute(lines_of(columns()), lines_of(columns()));
  if (yz_) {
    clear_if_padded(array_of_depths());
    yz_->forward(columns(), depths());
  }
  if (!is_empty(depths())) z_->forward(depths().first);
}

void BatchedFourier::backward() {
  if (!is_empty(depths())) z_->backward(depths().first);
  if (yz_) yz_->backward(depths(), columns());
  if (!is_empty(columns())) y_backward_->execute(lines_of(columns()), lines_of(columns()));
  if (xy_) xy_->backward(columns(), rows());
  if (!is_empty(rows())) x_->backward(rows().first);
}

void BatchedFourier::multiply_modes(const DeviceArray<double>& factors) {
  forward();
  auto* modes = reinterpret_cast<Kokkos::complex<double>*>(depths().first);
  Kokkos::parallel_for("pencil: multiply modes", DeviceTasks(0, factors.size()),
                       MultiplyMode{modes, factors.data()});
  backward();
}

}  // namespace octant::pencil
