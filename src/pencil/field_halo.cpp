#include "pencil/field_halo.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "comm/shared_memory.hpp"
#include "core/clock.hpp"
#include "core/observer.hpp"

namespace octant::pencil {

HaloPieces::HaloPieces(const Communicator& ranks, bool periodic) {
  const int size = ranks.size(), rank = ranks.rank();
  if (rank > 0 || periodic) neighbour[0] = (rank - 1 + size) % size;
  if (rank < size - 1 || periodic) neighbour[1] = (rank + 1) % size;
  for (int other = 0; other < size; ++other) {
    if (other != neighbour[0] && other != neighbour[1]) continue;
    std::int64_t pieces = 0;
    // If one rank is the neighbour at both ends, the message contains the piece from this rank's
    // upper end first, because the receiver fills its lower ghosts first.
    for (const int end : {1, 0})
      if (neighbour[end] == other) send_ends.push_back(end), ++pieces;
    for (const int end : {0, 1})
      if (neighbour[end] == other) receive_ends.push_back(end);
    segments.push_back({other, pieces});
  }
}

// Halo exchange along one axis.
struct Halo::Side {
  Side(const std::string& name, const Communicator& ranks, bool periodic,
       const HaloOptions& options);

  bool is_local() const { return ranks.size() == 1; }
  // Exchanges pieces of equal length. pack(end, values) copies the cells at an end (0 below, 1
  // above) to a message; unpack(end, values) fills the ghosts beyond an end from a message.
  template <class Pack, class Unpack>
  void exchange(std::size_t length, const Pack& pack, const Unpack& unpack);
  template <class Pack, class Unpack>
  void exchange_messages(std::size_t length, const Pack& pack, const Unpack& unpack);
  template <class Pack, class Unpack>
  void exchange_in_shared_memory(std::size_t length, const Pack& pack, const Unpack& unpack);

  // Returns the buffer that a rank fills for the neighbour beyond an end. Two buffers alternate:
  // when one is written again, all ranks have reached the next exchange and have read it.
  double* box(int rank, int end) const { return boxes->of(rank) + (2 * turn + end) * box_size; }
  void reserve_boxes(std::size_t length);

  std::string name;
  Communicator ranks;
  bool periodic;
  std::optional<HaloPieces> pieces;  // empty on one rank
  std::optional<ExchangePlan> plan;
  Exchanger exchanger;
  Buffer send, receive;
  bool shared_memory;
  std::unique_ptr<SharedMemory> boxes;
  std::size_t box_size = 0;
  int turn = 0;
  ExchangeCount shared_count;
};

Halo::Side::Side(const std::string& name, const Communicator& ranks, bool periodic,
                 const HaloOptions& options)
    : name(name),
      ranks(ranks),
      periodic(periodic),
      exchanger(name, ranks, options.messages),
      shared_memory(options.shared_memory),
      shared_count{name, Backend::p2p} {
  if (is_local()) return;
  pieces.emplace(ranks, periodic);
  plan.emplace(ranks, pieces->segments, pieces->segments);
}

template <class Pack, class Unpack>
void Halo::Side::exchange(std::size_t length, const Pack& pack, const Unpack& unpack) {
  if (shared_memory) exchange_in_shared_memory(length, pack, unpack);
  else exchange_messages(length, pack, unpack);
}

template <class Pack, class Unpack>
void Halo::Side::exchange_messages(std::size_t length, const Pack& pack, const Unpack& unpack) {
  send.reserve(length * pieces->send_ends.size());
  receive.reserve(length * pieces->receive_ends.size());
  {
    const Observed packing(Phase::pack, name);
    double* out = send.data();
    for (const int end : pieces->send_ends) pack(end, out), out += length;
  }
  exchanger.run(*plan, send.data(), receive.data(), static_cast<int>(length));
  const Observed unpacking(Phase::unpack, name);
  const double* in = receive.data();
  for (const int end : pieces->receive_ends) unpack(end, in), in += length;
}

// Allocates shared buffers for pieces of `length` doubles, the same on all ranks. Collective.
void Halo::Side::reserve_boxes(std::size_t length) {
  if (box_size >= length) return;
  boxes.reset();
  boxes = std::make_unique<SharedMemory>(ranks, 4 * length);
  box_size = length;
}

template <class Pack, class Unpack>
void Halo::Side::exchange_in_shared_memory(std::size_t length, const Pack& pack,
                                           const Unpack& unpack) {
  const Clock clock;
  reserve_boxes(length);
  {
    const Observed packing(Phase::pack, name);
    for (const int end : pieces->send_ends) pack(end, box(ranks.rank(), end));
  }
  boxes->synchronise();
  {
    const Observed unpacking(Phase::unpack, name);
    for (const int end : pieces->receive_ends) unpack(end, box(*pieces->neighbour[end], 1 - end));
  }
  turn = 1 - turn;
  const auto sent = static_cast<std::int64_t>(pieces->send_ends.size());
  shared_count.exchanges += 1;
  shared_count.messages += sent;
  shared_count.partners = std::max(shared_count.partners, sent);
  shared_count.bytes += sent * static_cast<std::int64_t>(length * sizeof(double));
  shared_count.seconds += clock.seconds();
}

Halo::Halo(const PencilGrid& grid, bool periodic_y, bool periodic_z, const HaloOptions& options) {
  y_ = std::make_unique<Side>("halo y", grid.row(), periodic_y, options);
  z_ = std::make_unique<Side>("halo z", grid.column(), periodic_z, options);
}

Halo::~Halo() = default;
Halo::Halo(Halo&&) noexcept = default;
Halo& Halo::operator=(Halo&&) noexcept = default;

void Halo::fill_y(std::span<Field* const> fields, int plane_offset) {
  if (!fields.empty()) fill_y(fields, 0, fields[0]->nz(), plane_offset);
}

void Halo::fill_y(std::span<Field* const> fields, int first, int end, int plane_offset) {
  if (fields.empty() || first >= end) return;
  const int ny = fields[0]->ny();
  if (y_->is_local()) {
    if (!y_->periodic) return;
    for (Field* field : fields)
      for (int k = first; k < end; ++k) {
        field->copy_row(k, -1, ny - 1, plane_offset);
        field->copy_row(k, ny, 0, plane_offset);
      }
    return;
  }
  const std::ptrdiff_t stride = fields[0]->row_stride(), pad = Field::k_pad;
  const auto for_each_row = [&](int j, const auto& move) {
    for (Field* field : fields)
      for (int k = first; k < end; ++k) move(field->row(k, j, plane_offset) - pad);
  };
  y_->exchange(
      static_cast<std::size_t>(stride) * (end - first) * fields.size(),
      [&](int side, double* values) {
        for_each_row(side == 0 ? 0 : ny - 1,
                     [&](const double* row) { values = std::copy_n(row, stride, values); });
      },
      [&](int side, const double* values) {
        for_each_row(side == 0 ? -1 : ny, [&](double* row) {
          std::copy_n(values, stride, row);
          values += stride;
        });
      });
}

void Halo::fill_z(std::span<Field* const> fields, int plane_offset) {
  if (fields.empty()) return;
  const int nz = fields[0]->nz();
  const std::ptrdiff_t stride = fields[0]->plane_stride();
  const auto plane = [&](Field* field, int k) {
    return field->row(k, -1, plane_offset) - Field::k_pad;
  };
  if (z_->is_local()) {
    if (!z_->periodic) return;
    for (Field* field : fields) {
      std::copy_n(plane(field, nz - 1), stride, plane(field, -1));
      std::copy_n(plane(field, 0), stride, plane(field, nz));
    }
    return;
  }
  z_->exchange(
      static_cast<std::size_t>(stride) * fields.size(),
      [&](int side, double* values) {
        for (Field* field : fields)
          values = std::copy_n(plane(field, side == 0 ? 0 : nz - 1), stride, values);
      },
      [&](int side, const double* values) {
        for (Field* field : fields) {
          std::copy_n(values, stride, plane(field, side == 0 ? -1 : nz));
          values += stride;
        }
      });
}

std::vector<ExchangeCount> Halo::report() const {
  std::vector<ExchangeCount> counts;
  for (const Side* side : {y_.get(), z_.get()}) {
    for (const ExchangeCount& count : side->exchanger.report()) counts.push_back(count);
    if (side->boxes) counts.push_back(side->shared_count);
  }
  return counts;
}

namespace {

int cells_along(const FieldView& field, int axis) {
  return axis == 0 ? field.nx : axis == 1 ? field.ny : field.nz;
}

// Returns layer n of a view along an axis, with all ghosts along the other axes.
FieldView layer_of(const FieldView& field, int axis, int n) {
  std::array<Range, 3> cells{Range{-1, field.nx + 1}, {-1, field.ny + 1}, {-1, field.nz + 1}};
  cells[axis] = {n, n + 1};
  return part_of(field, cells[0], cells[1], cells[2]);
}

}  // namespace

// Halo exchange along one axis.
struct BatchedHalo::Side {
  Side(const std::string& name, const Communicator& ranks, bool periodic, const CommOptions& comm)
      : name(name),
        pieces(ranks, periodic),
        plan(ranks, pieces.segments, pieces.segments),
        exchanger(name, ranks, comm, -1, Buffers::of_device) {}

  void fill(std::span<const FieldView> fields, int axis) {
    const int last = cells_along(fields[0], axis) - 1;
    const Cells shape = [&, layer = layer_of(fields[0], axis, 0)] {
      return Cells{layer.nx, layer.ny, layer.nz};
    }();
    const std::size_t size = std::size_t(shape[0]) * shape[1] * shape[2];
    const std::size_t length = size * fields.size(), all = length * pieces.send_ends.size();
    if (leaving.size() < all) leaving = uninitialised<double>(name, all);
    if (arriving.size() < all) arriving = uninitialised<double>(name, all);
    {
      const Observed packing(Phase::pack, name);
      double* out = leaving.data();
      std::vector<CellCopy> copies;
      for (const int end : pieces.send_ends)
        for (const FieldView& field : fields) {
          copies.push_back({layer_of(field, axis, end == 0 ? 0 : last), dense_view(out, shape)});
          out += size;
        }
      copy_cells(copies);
    }
    exchanger.run(plan, leaving.data(), arriving.data(), static_cast<int>(length));
    const Observed unpacking(Phase::unpack, name);
    double* in = arriving.data();
    std::vector<CellCopy> copies;
    for (const int end : pieces.receive_ends)
      for (const FieldView& field : fields) {
        copies.push_back({dense_view(in, shape), layer_of(field, axis, end == 0 ? -1 : last + 1)});
        in += size;
      }
    copy_cells(copies);
  }

  std::string name;
  HaloPieces pieces;
  ExchangePlan plan;
  Exchanger exchanger;
  DeviceArray<double> leaving, arriving;
};

BatchedHalo::BatchedHalo(const PencilGrid& grid, const std::array<bool, 3>& periodic,
                         const CommOptions& comm, Orientation fields) {
  constexpr const char* names[] = {"halo x", "halo y", "halo z"};
  for (int axis = 0; axis < 3; ++axis)
    if (const Communicator* ranks = grid.ranks_along(fields, axis))
      sides_[axis] = std::make_unique<Side>(names[axis], *ranks, periodic[axis], comm);
}

BatchedHalo::~BatchedHalo() = default;

void BatchedHalo::fill(std::span<const FieldView> fields, int axis) {
  if (sides_[axis] && !fields.empty()) sides_[axis]->fill(fields, axis);
}

std::vector<ExchangeCount> BatchedHalo::report() const {
  std::vector<ExchangeCount> counts;
  for (const std::unique_ptr<Side>& side : sides_)
    if (side)
      for (const ExchangeCount& count : side->exchanger.report()) counts.push_back(count);
  return counts;
}

}  // namespace octant::pencil
