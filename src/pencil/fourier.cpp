#include "pencil/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "pencil/buffer.hpp"
#include "pencil/rows.hpp"

namespace octant::pencil {

namespace {

// Complex numbers lie as pairs of doubles along x.
Range pairs(int count, int parts, int index) {
  const Range range = part(count, parts, index);
  return {2 * range.begin, 2 * range.end};
}

int blocks_of(const Box& box) { return (box[0].count() + k_columns - 1) / k_columns; }

// Blocks of k_columns in which the lines along `axis` are contiguous: `length` rows, of which those
// of the box are the first.
Layout blocked(const Box& box, int axis, int length) {
  const int other = 3 - axis;
  Layout layout{box, {}, k_columns, std::int64_t{length} * k_columns};
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

Cells padded(Cells cells, Padding padding) {
  if (padding == Padding::doubled)
    for (int& n : cells) n *= 2;
  return cells;
}

Mode mode_at(int x, int y, int z, const Cells& lengths) {
  const bool is_own_mirror = x == 0 || 2 * x == lengths[0];
  return {x, wave_number(y, lengths[1]), wave_number(z, lengths[2]), is_own_mirror ? 1 : 2};
}

struct PeriodicFourier::State {
  State(const PencilGrid& grid, TransposeBackend backend, Padding padding);

  // Pencils of values, which lines along y are made of, and of coefficients of a rank.
  Box x_box(int rank) const;
  Box y_values(int rank) const;
  Box y_box(int rank) const;
  Box z_values(int rank) const;
  int own() const { return grid.communicator().rank(); }
  int rows() const { return static_cast<int>(x_box(own()).cells() / (2 * half)); }

  void transform_columns(const Transform& transform, int axis);
  void clear_padding(int axis);
  // Calls body(block) for the blocks of columns along y or z.
  template <class Body>
  void for_blocks(int axis, const Body& body);

  PencilGrid grid;
  Cells n;   // of the transform
  int half;  // complex numbers of a row
  RowFourier along_x;
  std::unique_ptr<Transform> y_forward, y_backward, z_forward, z_backward;
  Layout y_layout, z_layout;
  Buffer by_y;
  Buffer by_x_or_z;  // nobody needs the ones when the others are written
  Transpose xy, yz;
};

Box PeriodicFourier::State::x_box(int rank) const {
  const Box box = grid.box(Orientation::x, rank);
  return {Range{0, 2 * half}, box[1], box[2]};
}

Box PeriodicFourier::State::y_values(int rank) const {
  const Box box = grid.box(Orientation::y, rank);
  return {pairs(half, grid.processes().y, rank % grid.processes().y), box[1], box[2]};
}

Box PeriodicFourier::State::y_box(int rank) const {
  const Box box = y_values(rank);
  return {box[0], Range{0, n[1]}, box[2]};
}

Box PeriodicFourier::State::z_values(int rank) const {
  const ProcessGrid processes = grid.processes();
  return {pairs(half, processes.y, rank % processes.y), part(n[1], processes.z, rank / processes.y),
          Range{0, grid.cells()[2]}};
}

PeriodicFourier::State::State(const PencilGrid& pencil_grid, TransposeBackend backend,
                              Padding padding)
    : grid(pencil_grid),
      n(padded(grid.cells(), padding)),
      half(n[0] / 2 + 1),
      along_x(n[0]),
      y_layout(blocked(y_values(own()), 1, n[1])),
      z_layout(blocked(z_values(own()), 2, n[2])),
      by_y(size_of(y_layout, 1)),
      by_x_or_z(std::max(static_cast<std::size_t>(x_box(own()).cells()), size_of(z_layout, 2))),
      xy(
          "Fourier x-y", grid.row(),
          [&](int index) { return x_box(grid.rank_of(index, grid.z_index())); },
          [&](int index) { return y_values(grid.rank_of(index, grid.z_index())); },
          Layout::ordered(x_box(own())), y_layout, backend),
      yz(
          "Fourier y-z", grid.column(),
          [&](int index) { return y_box(grid.rank_of(grid.y_index(), index)); },
          [&](int index) { return z_values(grid.rank_of(grid.y_index(), index)); },
          blocked(y_box(own()), 1, n[1]), z_layout, backend) {
  using enum TransformKind;
  y_forward = make_transform(complex_forward, n[1]);
  y_backward = make_transform(complex_backward, n[1]);
  z_forward = make_transform(complex_forward, n[2]);
  z_backward = make_transform(complex_backward, n[2]);
}

template <class Body>
void PeriodicFourier::State::for_blocks(int axis, const Body& body) {
  Buffer& array = axis == 1 ? by_y : by_x_or_z;
  double* const end = array.data() + size_of(axis == 1 ? y_layout : z_layout, axis);
  for (double* block = array.data(); block < end; block += std::int64_t{n[axis]} * k_columns)
    body(block);
}

void PeriodicFourier::State::transform_columns(const Transform& transform, int axis) {
  for_blocks(axis, [&](double* block) { transform.execute(block, k_columns); });
}

void PeriodicFourier::State::clear_padding(int axis) {
  const std::int64_t cells = grid.cells()[axis];
  if (n[axis] == cells) return;
  for_blocks(axis, [&](double* block) {
    std::fill(block + cells * k_columns, block + std::int64_t{n[axis]} * k_columns, 0.0);
  });
}

PeriodicFourier::PeriodicFourier(const PencilGrid& grid, TransposeBackend backend, Padding padding)
    : state_(std::make_unique<State>(grid, backend, padding)) {}

PeriodicFourier::~PeriodicFourier() = default;
PeriodicFourier::PeriodicFourier(PeriodicFourier&&) noexcept = default;
PeriodicFourier& PeriodicFourier::operator=(PeriodicFourier&&) noexcept = default;

void PeriodicFourier::forward(const double* values) {
  State& s = *state_;
  const int given = s.grid.cells()[0];
  double *const by_x_or_z = s.by_x_or_z.data(), *const by_y = s.by_y.data();
  s.along_x.forward(values, given, s.rows(), given, by_x_or_z, s.along_x.width());
  s.xy.forward(by_x_or_z, by_y);
  s.clear_padding(1);
  s.transform_columns(*s.y_forward, 1);
  s.yz.forward(by_y, by_x_or_z);
  s.clear_padding(2);
  s.transform_columns(*s.z_forward, 2);
}

void PeriodicFourier::for_each_mode(
    const std::function<void(const Mode&, std::complex<double>&)>& visit) {
  State& s = *state_;
  const Box& box = s.z_layout.box;
  for (int y = 0; y < box[1].count(); ++y)
    for (int x = 0; x < box[0].count(); x += 2)
      for (int z = 0; z < s.n[2]; ++z) {
        const Mode mode = mode_at((box[0].begin + x) / 2, box[1].begin + y, z, s.n);
        double* pair = s.by_x_or_z.data() + s.z_layout.at(x, y, z);
        std::complex<double> coefficient(pair[0], pair[1]);
        visit(mode, coefficient);
        pair[0] = coefficient.real(), pair[1] = coefficient.imag();
      }
}

void PeriodicFourier::backward(double* values) {
  State& s = *state_;
  const int wanted = s.grid.cells()[0];
  const double scale = 1.0 / (static_cast<double>(s.n[0]) * s.n[1] * s.n[2]);
  double *const by_x_or_z = s.by_x_or_z.data(), *const by_y = s.by_y.data();
  s.transform_columns(*s.z_backward, 2);
  s.yz.backward(by_x_or_z, by_y);
  s.transform_columns(*s.y_backward, 1);
  s.xy.backward(by_y, by_x_or_z);
  s.along_x.backward(by_x_or_z, s.along_x.width(), s.rows(), wanted, scale, values, wanted);
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
