#include "gravity/pencil_transfer.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "core/host_kernels.hpp"

namespace octant::gravity {

namespace {

using HostPolicy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;

// Which of the parts that pencil::part makes holds a cell.
int part_of(std::int64_t cell, int cells, int parts) {
  return static_cast<int>(((cell + 1) * parts - 1) / cells);
}

// Calls copy(rows, y, z, place in a message) for every row.
template <class Copy>
void for_each_row(const char* name, const std::vector<SharedRows>& shared, const Copy& copy) {
  const HostKernels here;
  Kokkos::parallel_for(name, HostPolicy(0, shared.size()), [&](std::int64_t n) {
    const SharedRows& rows = shared[n];
    std::int64_t place = rows.first;
    for (int z = rows.z.begin; z < rows.z.end; ++z)
      for (int y = rows.y.begin; y < rows.y.end; ++y) copy(rows, y, z, place++);
  });
  Kokkos::DefaultHostExecutionSpace().fence();
}

// Between a row of a patch, even cells first, and one in natural order.
void join(const double* split, int side, double* row) {
  for (int e = 0; e < side / 2; ++e) row[2 * e] = split[e], row[2 * e + 1] = split[e + side / 2];
}
void separate(const double* row, int side, double* split) {
  for (int e = 0; e < side / 2; ++e) split[e] = row[2 * e], split[e + side / 2] = row[2 * e + 1];
}

// Numbers the rows of messages and adds up what goes to, or comes from, each rank.
void append(std::vector<SharedRows>& list, std::vector<Segment>& segments, SharedRows rows,
            int rank) {
  rows.first = list.empty() ? 0 : list.back().first + list.back().count();
  list.push_back(rows);
  if (segments.empty() || segments.back().rank != rank) segments.push_back({rank, 0});
  segments.back().count += rows.count();
}

}  // namespace

PencilTransfer::PencilTransfer(const LevelPatches& patches, const pencil::Cells& cells,
                               const pencil::ProcessGrid& processes, const CommOptions& options)
    : side_(patches.side()),
      cells_(cells),
      exchanger_("gravity pencils", patches.communicator(), options) {
  match(patches, processes);
}

void PencilTransfer::match(const LevelPatches& patches, const pencil::ProcessGrid& processes) {
  const Communicator& communicator = patches.communicator();
  const auto box_of = [&](int rank) {
    return pencil::Box{{{{0, cells_[0]},
                         pencil::part(cells_[1], processes.y, rank % processes.y),
                         pencil::part(cells_[2], processes.z, rank / processes.y)}}};
  };
  if (communicator.rank() < processes.ranks()) pencil_ = box_of(communicator.rank());

  struct Shared {
    int rank;
    SharedRows rows;
  };
  std::vector<Shared> shared;
  for (int slot = 0; slot < patches.own(); ++slot) {
    const BlockCoordinates patch = morton_decode(patches.key(slot));
    const auto cell = [&](int axis, int end) {
      return static_cast<std::int32_t>((patch[axis] + end) * side_);
    };
    const auto part = [&](int axis, int parts, int end) {
      return part_of(cell(axis, end) - end, cells_[axis], parts);
    };
    for (int z = part(2, processes.z, 0); z <= part(2, processes.z, 1); ++z)
      for (int y = part(1, processes.y, 0); y <= part(1, processes.y, 1); ++y) {
        const int rank = z * processes.y + y;
        const pencil::Box box = box_of(rank);
        shared.push_back({rank,
                          {slot,
                           {cell(0, 0), cell(1, 0), cell(2, 0)},
                           intersection(box[1], {cell(1, 0), cell(1, 1)}),
                           intersection(box[2], {cell(2, 0), cell(2, 1)})}});
      }
  }
  std::stable_sort(shared.begin(), shared.end(),
                   [](const Shared& a, const Shared& b) { return a.rank < b.rank; });
  std::vector<Segment> sends, receives;
  std::vector<int> destinations;
  for (const Shared& s : shared) {
    if (s.rank == communicator.rank()) {
      local_.push_back(s.rows);
      continue;
    }
    append(leaving_, sends, s.rows, s.rank);
    destinations.push_back(s.rank);
  }
  const auto incoming =
      route<SharedRows>(communicator, destinations, std::span<const SharedRows>(leaving_));
  for (std::size_t n = 0; n < incoming.items.size(); ++n)
    append(arriving_, receives, incoming.items[n], incoming.sources[n]);
  plan_ = std::make_unique<ExchangePlan>(communicator, std::move(sends), std::move(receives));
  sent_.resize(static_cast<std::size_t>(plan_->items_sent() * side_));
  received_.resize(static_cast<std::size_t>(plan_->items_received() * side_));
}

std::int64_t PencilTransfer::in_patch(const SharedRows& rows, int y, int z) const {
  const std::int64_t plane = rows.patch * std::int64_t{side_} + (z - rows.corner[2]);
  return (plane * side_ + (y - rows.corner[1])) * side_;
}

std::int64_t PencilTransfer::in_pencil(const SharedRows& rows, int y, int z) const {
  const std::int64_t row =
      std::int64_t{z - pencil_[2].begin} * pencil_[1].count() + (y - pencil_[1].begin);
  return row * cells_[0] + rows.corner[0];
}

void PencilTransfer::to_pencil(const double* patches, double* pencil) {
  for_each_row("gravity: pack rows", leaving_,
               [&](const SharedRows& rows, int y, int z, std::int64_t place) {
                 join(patches + in_patch(rows, y, z), side_, sent_.data() + place * side_);
               });
  exchanger_.start<double>(*plan_, sent_.data(), received_.data(), side_);
  for_each_row("gravity: patches to pencil", local_,
               [&](const SharedRows& rows, int y, int z, std::int64_t) {
                 join(patches + in_patch(rows, y, z), side_, pencil + in_pencil(rows, y, z));
               });
  exchanger_.finish();
  for_each_row("gravity: unpack rows", arriving_,
               [&](const SharedRows& rows, int y, int z, std::int64_t place) {
                 std::copy_n(received_.data() + place * side_, side_,
                             pencil + in_pencil(rows, y, z));
               });
}

// The way back: what arrived leaves, and what left arrives.
void PencilTransfer::to_patches(const double* pencil, double* patches) {
  for_each_row("gravity: pack rows", arriving_,
               [&](const SharedRows& rows, int y, int z, std::int64_t place) {
                 std::copy_n(pencil + in_pencil(rows, y, z), side_,
                             received_.data() + place * side_);
               });
  exchanger_.start<double>(*plan_, received_.data(), sent_.data(), side_, Direction::reverse);
  for_each_row("gravity: pencil to patches", local_,
               [&](const SharedRows& rows, int y, int z, std::int64_t) {
                 separate(pencil + in_pencil(rows, y, z), side_, patches + in_patch(rows, y, z));
               });
  exchanger_.finish();
  for_each_row("gravity: unpack rows", leaving_,
               [&](const SharedRows& rows, int y, int z, std::int64_t place) {
                 separate(sent_.data() + place * side_, side_, patches + in_patch(rows, y, z));
               });
}

}  // namespace octant::gravity
