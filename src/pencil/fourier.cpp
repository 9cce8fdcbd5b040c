#include "pencil/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "pencil/batched_fourier.hpp"
#include "pencil/fft.hpp"
#include "pencil/field.hpp"

namespace octant::pencil {

namespace {

// Returns a part of `count` complex numbers along x as a range of doubles.
Range pairs(int count, int parts, int index) {
  const Range range = part(count, parts, index);
  return {2 * range.begin, 2 * range.end};
}

int blocks_of(const Box& box) { return (box[0].count() + k_columns - 1) / k_columns; }

// Returns a layout in blocks of k_columns columns, each with `length` rows along `axis`, of which
// the first are those of the box.
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

  // Boxes of a rank's x-, y- and z-pencils. y_values() and z_values() exclude padding along the
  // lines.
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
  Cells n;   // padded lengths
  int half;  // complex numbers per row
  RowFourier along_x;
  std::unique_ptr<Transform> y_forward, y_backward, z_forward, z_backward;
  Layout y_layout, z_layout;
  Buffer by_y;
  Buffer by_x_or_z;  // x-pencils or z-pencils, which are never in use together
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

// --- batched over all lines of an axis -----------------------------------------------------------

namespace {

// Returns the complex lines along y of a view.
LineSet lines_of(const FieldView& columns) {
  return {columns.first, columns.row_stride, 2, columns.nx / 2, columns.plane_stride};
}

// Kernel that multiplies each mode by its factor.
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

  // Ranks without lines make plans for one line, because libraries reject empty plans.
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
  for_tasks("pencil: multiply modes", factors.size(), MultiplyMode{modes, factors.data()});
  backward();
}

}  // namespace octant::pencil
