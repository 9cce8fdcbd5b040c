#include "pencil/fourier.hpp"

#include <algorithm>
#include <cstdlib>

#include "pencil/buffer.hpp"
#include "pencil/fft.hpp"

namespace octant::pencil {

namespace {

// Complex numbers lie as pairs of doubles along x.
Range pairs(int count, int parts, int index) {
  const Range range = part(count, parts, index);
  return {2 * range.begin, 2 * range.end};
}

int blocks_of(const Box& box) { return (box[0].count() + k_columns - 1) / k_columns; }

// Blocks of k_columns in which the lines along `axis` are contiguous rows.
Layout blocked(const Box& box, int axis) {
  const int other = 3 - axis, rows = box[axis].count();
  Layout layout{box, {}, k_columns, std::int64_t{rows} * k_columns};
  layout.stride[0] = 1;
  layout.stride[axis] = k_columns;
  layout.stride[other] = blocks_of(box) * layout.block_stride;
  return layout;
}

std::size_t size_of(const Layout& layout, int axis) {
  return static_cast<std::size_t>(layout.box[3 - axis].count()) * layout.stride[3 - axis];
}

int wave_number(int n, int cells) { return 2 * n <= cells ? n : n - cells; }

}  // namespace

struct PeriodicFourier::State {
  State(const PencilGrid& grid, TransposeBackend backend);

  // Pencils of coefficients of a rank.
  Box x_box(int rank) const;
  Box y_box(int rank) const;
  Box z_box(int rank) const;
  int own() const { return grid.communicator().rank(); }

  static void transform_columns(const Transform& transform, Buffer& array, const Layout& layout,
                                int axis);

  PencilGrid grid;
  int half;  // complex numbers of a row
  std::unique_ptr<Transform> x_forward, x_backward, y_forward, y_backward, z_forward, z_backward;
  Layout y_layout, z_layout;
  Buffer by_x, by_y, by_z;
  Transpose xy, yz;
  Buffer line, row;
};

Box PeriodicFourier::State::x_box(int rank) const {
  const Box box = grid.box(Orientation::x, rank);
  return {Range{0, 2 * half}, box[1], box[2]};
}

Box PeriodicFourier::State::y_box(int rank) const {
  const Box box = grid.box(Orientation::y, rank);
  return {pairs(half, grid.processes().y, rank % grid.processes().y), box[1], box[2]};
}

Box PeriodicFourier::State::z_box(int rank) const {
  const Box box = grid.box(Orientation::z, rank);
  return {pairs(half, grid.processes().y, rank % grid.processes().y), box[1], box[2]};
}

PeriodicFourier::State::State(const PencilGrid& pencil_grid, TransposeBackend backend)
    : grid(pencil_grid),
      half(grid.cells()[0] / 2 + 1),
      y_layout(blocked(y_box(own()), 1)),
      z_layout(blocked(z_box(own()), 2)),
      by_x(static_cast<std::size_t>(x_box(own()).cells())),
      by_y(size_of(y_layout, 1)),
      by_z(size_of(z_layout, 2)),
      xy(
          "Fourier x-y", grid.row(),
          [&](int index) { return x_box(grid.rank_of(index, grid.z_index())); },
          [&](int index) { return y_box(grid.rank_of(index, grid.z_index())); },
          Layout::ordered(x_box(own())), y_layout, backend),
      yz(
          "Fourier y-z", grid.column(),
          [&](int index) { return y_box(grid.rank_of(grid.y_index(), index)); },
          [&](int index) { return z_box(grid.rank_of(grid.y_index(), index)); }, y_layout, z_layout,
          backend),
      line(grid.cells()[0]),
      row(2 * half) {
  using enum TransformKind;
  const auto make = [&](TransformKind kind, TransformShape shape, int axis) {
    return make_transform(kind, shape, grid.cells()[axis], false);
  };
  x_forward = make(real_to_complex, TransformShape::row, 0);
  x_backward = make(complex_to_real, TransformShape::row, 0);
  y_forward = make(complex_forward, TransformShape::columns, 1);
  y_backward = make(complex_backward, TransformShape::columns, 1);
  z_forward = make(complex_forward, TransformShape::columns, 2);
  z_backward = make(complex_backward, TransformShape::columns, 2);
}

void PeriodicFourier::State::transform_columns(const Transform& transform, Buffer& array,
                                               const Layout& layout, int axis) {
  const int rows = layout.box[axis].count();
  if (rows == 0) return;
  double* const end = array.data() + size_of(layout, axis);
  for (double* block = array.data(); block < end; block += std::ptrdiff_t{rows} * k_columns)
    transform.execute(block, block);
}

PeriodicFourier::PeriodicFourier(const PencilGrid& grid, TransposeBackend backend)
    : state_(std::make_unique<State>(grid, backend)) {}

PeriodicFourier::~PeriodicFourier() = default;
PeriodicFourier::PeriodicFourier(PeriodicFourier&&) noexcept = default;
PeriodicFourier& PeriodicFourier::operator=(PeriodicFourier&&) noexcept = default;

void PeriodicFourier::forward(const double* values) {
  State& s = *state_;
  const int n = s.grid.cells()[0];
  const std::int64_t rows = s.x_box(s.own()).cells() / (2 * s.half);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(values + r * n, n, s.line.data());
    s.x_forward->execute(s.line.data(), s.row.data());
    std::copy_n(s.row.data(), 2 * s.half, s.by_x.data() + r * 2 * s.half);
  }
  s.xy.forward(s.by_x.data(), s.by_y.data());
  s.transform_columns(*s.y_forward, s.by_y, s.y_layout, 1);
  s.yz.forward(s.by_y.data(), s.by_z.data());
  s.transform_columns(*s.z_forward, s.by_z, s.z_layout, 2);
}

void PeriodicFourier::for_each_mode(
    const std::function<void(const Mode&, std::complex<double>&)>& visit) {
  State& s = *state_;
  const Cells& n = s.grid.cells();
  const Box& box = s.z_layout.box;
  for (int y = 0; y < box[1].count(); ++y)
    for (int x = 0; x < box[0].count(); x += 2)
      for (int z = 0; z < n[2]; ++z) {
        const int kx = (box[0].begin + x) / 2;
        const bool is_own_mirror = kx == 0 || 2 * kx == n[0];
        const Mode mode{kx, wave_number(box[1].begin + y, n[1]), wave_number(z, n[2]),
                        is_own_mirror ? 1 : 2};
        double* pair = s.by_z.data() + s.z_layout.at(x, y, z);
        std::complex<double> coefficient(pair[0], pair[1]);
        visit(mode, coefficient);
        pair[0] = coefficient.real(), pair[1] = coefficient.imag();
      }
}

void PeriodicFourier::backward(double* values) {
  State& s = *state_;
  const Cells& cells = s.grid.cells();
  const int n = cells[0];
  const double scale = 1.0 / (static_cast<double>(n) * cells[1] * cells[2]);
  s.transform_columns(*s.z_backward, s.by_z, s.z_layout, 2);
  s.yz.backward(s.by_z.data(), s.by_y.data());
  s.transform_columns(*s.y_backward, s.by_y, s.y_layout, 1);
  s.xy.backward(s.by_y.data(), s.by_x.data());
  const std::int64_t rows = s.x_box(s.own()).cells() / (2 * s.half);
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(s.by_x.data() + r * 2 * s.half, 2 * s.half, s.row.data());
    s.x_backward->execute(s.row.data(), s.line.data());
    for (int i = 0; i < n; ++i) values[r * n + i] = scale * s.line.data()[i];
  }
}

ProcessGrid fitting_process_grid(int ranks, const Cells& cells, int least) {
  const int most_y = std::max(1, cells[1] / least), most_z = std::max(1, cells[2] / least);
  ProcessGrid best;
  for (int y = 1; y <= std::min(ranks, most_y); ++y) {
    const ProcessGrid grid{y, std::min(ranks / y, most_z)};
    const bool squarer = std::abs(grid.y - grid.z) < std::abs(best.y - best.z);
    if (grid.ranks() > best.ranks() || (grid.ranks() == best.ranks() && squarer)) best = grid;
  }
  return best;
}

}  // namespace octant::pencil
