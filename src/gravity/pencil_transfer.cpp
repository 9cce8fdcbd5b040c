#include "gravity/pencil_transfer.hpp"

#include <algorithm>

#include "comm/route.hpp"
#include "core/teams.hpp"
#include "mesh/device.hpp"

namespace octant::gravity {

namespace {

// Which of the parts that pencil::part makes holds a cell.
int part_of(std::int64_t cell, int cells, int parts) {
  return static_cast<int>(((cell + 1) * parts - 1) / cells);
}

// Where row (y, z) of the grid lies in a patch and in the own pencil.
struct PencilRows {
  int side;
  pencil::FieldView pencil;
  int first_y, first_z;  // rows of the pencil

  KOKKOS_FUNCTION std::int64_t in_patch(const SharedRows& rows, int y, int z) const {
    const std::int64_t plane = rows.patch * std::int64_t{side} + (z - rows.corner[2]);
    return (plane * side + (y - rows.corner[1])) * side;
  }
  KOKKOS_FUNCTION double* in_pencil(const SharedRows& rows, int y, int z) const {
    return pencil.row(z - first_z, y - first_y) + rows.corner[0];
  }
};

// Calls copy(rows, y, z, place in a message) for every row.
template <class Copy>
void for_each_row(const char* name, const DeviceArray<const SharedRows>& shared, const Copy& copy) {
  using Policy = Kokkos::TeamPolicy<>;
  const auto count = static_cast<int>(shared.extent(0));
  if (count == 0) return;
  Kokkos::parallel_for(
      name, Policy(count, team_threads()), KOKKOS_LAMBDA(const Policy::member_type& team) {
        const SharedRows& rows = shared(team.league_rank());
        const int ny = rows.y.end - rows.y.begin, nz = rows.z.end - rows.z.begin;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, ny * nz), [&](int n) {
          copy(rows, rows.y.begin + n % ny, rows.z.begin + n / ny, rows.first + n);
        });
      });
}

// Between a row of a patch, even cells first, and one in natural order.
KOKKOS_FUNCTION void join(const double* split, int side, double* row) {
  for (int e = 0; e < side / 2; ++e) row[2 * e] = split[e], row[2 * e + 1] = split[e + side / 2];
}
KOKKOS_FUNCTION void separate(const double* row, int side, double factor, double* split) {
  for (int e = 0; e < side / 2; ++e) {
    split[e] = factor * row[2 * e];
    split[e + side / 2] = factor * row[2 * e + 1];
  }
}
KOKKOS_FUNCTION void copy_row(const double* from, int side, double* to) {
  for (int i = 0; i < side; ++i) to[i] = from[i];
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
      exchanger_("gravity pencils", patches.communicator(), options, patches.level(),
                 Buffers::of_device) {
  match(patches, cells, processes);
}

void PencilTransfer::match(const LevelPatches& patches, const pencil::Cells& cells,
                           const pencil::ProcessGrid& processes) {
  const Communicator& communicator = patches.communicator();
  const auto box_of = [&](int rank) {
    return pencil::Box{{{{0, cells[0]},
                         pencil::part(cells[1], processes.y, rank % processes.y),
                         pencil::part(cells[2], processes.z, rank / processes.y)}}};
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
      return part_of(cell(axis, end) - end, cells[axis], parts);
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
  std::vector<SharedRows> local, leaving, arriving;
  std::vector<Segment> sends, receives;
  std::vector<int> destinations;
  for (const Shared& s : shared) {
    if (s.rank == communicator.rank()) {
      local.push_back(s.rows);
      continue;
    }
    append(leaving, sends, s.rows, s.rank);
    destinations.push_back(s.rank);
  }
  const auto incoming =
      route<SharedRows>(communicator, destinations, std::span<const SharedRows>(leaving));
  for (std::size_t n = 0; n < incoming.items.size(); ++n)
    append(arriving, receives, incoming.items[n], incoming.sources[n]);
  plan_ = std::make_unique<ExchangePlan>(communicator, std::move(sends), std::move(receives));
  local_ = mesh::to_device("shared rows", local);
  leaving_ = mesh::to_device("shared rows", leaving);
  arriving_ = mesh::to_device("shared rows", arriving);
  sent_ = mesh::uninitialised<double>("rows of patches", plan_->items_sent() * side_);
  received_ = mesh::uninitialised<double>("rows of pencils", plan_->items_received() * side_);
}

void PencilTransfer::to_pencil(const double* patches, const pencil::FieldView& pencil) {
  const PencilRows places{side_, pencil, pencil_[1].begin, pencil_[2].begin};
  double *sent = sent_.data(), *received = received_.data();
  const int side = side_;
  for_each_row(
      "gravity: pack rows", leaving_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t place) {
        join(patches + places.in_patch(rows, y, z), side, sent + place * side);
      });
  exchanger_.start<double>(*plan_, sent, received, side);
  for_each_row(
      "gravity: patches to pencil", local_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t) {
        join(patches + places.in_patch(rows, y, z), side, places.in_pencil(rows, y, z));
      });
  exchanger_.finish();
  for_each_row(
      "gravity: unpack rows", arriving_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t place) {
        copy_row(received + place * side, side, places.in_pencil(rows, y, z));
      });
}

// The way back: what arrived leaves, and what left arrives.
void PencilTransfer::to_patches(const pencil::FieldView& pencil, double* patches, double factor) {
  const PencilRows places{side_, pencil, pencil_[1].begin, pencil_[2].begin};
  double *sent = sent_.data(), *received = received_.data();
  const int side = side_;
  for_each_row(
      "gravity: pack rows", arriving_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t place) {
        copy_row(places.in_pencil(rows, y, z), side, received + place * side);
      });
  exchanger_.start<double>(*plan_, received, sent, side, Direction::reverse);
  for_each_row(
      "gravity: pencil to patches", local_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t) {
        separate(places.in_pencil(rows, y, z), side, factor, patches + places.in_patch(rows, y, z));
      });
  exchanger_.finish();
  for_each_row(
      "gravity: unpack rows", leaving_,
      KOKKOS_LAMBDA(const SharedRows& rows, int y, int z, std::int64_t place) {
        separate(sent + place * side, side, factor, patches + places.in_patch(rows, y, z));
      });
}

}  // namespace octant::gravity
