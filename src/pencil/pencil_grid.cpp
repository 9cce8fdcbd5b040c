#include "pencil/pencil_grid.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"

namespace octant::pencil {

Range intersection(Range a, Range b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

Range part(int cells, int parts, int index) {
  const auto begin = [&](std::int64_t n) { return static_cast<int>(n * cells / parts); };
  return {begin(index), begin(index + 1)};
}

std::int64_t Box::cells() const {
  return std::int64_t{range[0].count()} * range[1].count() * range[2].count();
}

Box intersection(const Box& a, const Box& b) {
  return {intersection(a[0], b[0]), intersection(a[1], b[1]), intersection(a[2], b[2])};
}

std::string to_string(ProcessGrid processes) {
  return fmt::format("{}x{}", processes.y, processes.z);
}

void check_process_grid(ProcessGrid processes, int ranks, const Cells& cells, Orientation fields) {
  const auto refuse = [&](const std::string& reason) {
    throw InputError(
        "grid.process_grid = \"{}\" is not valid for {} x {} x {} cells on {} rank(s): {}",
        to_string(processes), cells[0], cells[1], cells[2], ranks, reason);
  };
  if (processes.y < 1 || processes.z < 1)
    refuse("both dimensions of the process grid must be at least 1");
  if (std::int64_t{processes.y} * processes.z != ranks)
    refuse(fmt::format(
        "the product of the process-grid dimensions must equal the number of ranks, {}", ranks));
  if (processes.y > cells[1])
    refuse(fmt::format("{} ranks along y require at least as many cells along y, but there are {}",
                       processes.y, cells[1]));
  if (processes.z > cells[2])
    refuse(fmt::format("{} ranks along z require at least as many cells along z, but there are {}",
                       processes.z, cells[2]));
  if (fields == Orientation::z_direct && processes.z > cells[0])
    refuse(
        fmt::format("dns.pencil_axis = \"z\" divides x among the {} ranks of the second dimension, "
                    "but there are {} cells along x",
                    processes.z, cells[0]));
}

PencilGrid::PencilGrid(const Communicator& communicator, const Cells& cells, ProcessGrid processes)
    : cells_(cells),
      processes_((check_process_grid(processes, communicator.size(), cells), processes)),
      all_(communicator.split(0)),
      row_(all_.split(all_.rank() / processes.y)),
      column_(all_.split(all_.rank() % processes.y)) {}

Box PencilGrid::box(Orientation orientation, int rank) const {
  const int y = rank % processes_.y, z = rank / processes_.y;
  const auto whole = [&](int axis) { return Range{0, cells_[axis]}; };
  const auto by_y = [&](int axis) { return part(cells_[axis], processes_.y, y); };
  const auto by_z = [&](int axis) { return part(cells_[axis], processes_.z, z); };
  switch (orientation) {
    case Orientation::x: return {whole(0), by_y(1), by_z(2)};
    case Orientation::y: return {by_y(0), whole(1), by_z(2)};
    case Orientation::z: return {by_y(0), by_z(1), whole(2)};
    case Orientation::z_direct: return {by_z(0), by_y(1), whole(2)};
  }
  return {};
}

const Communicator* PencilGrid::ranks_along(Orientation orientation, int axis) const {
  using Axes = std::array<const Communicator*, 3>;
  const auto axes = [&]() -> Axes {
    switch (orientation) {
      case Orientation::x: return {nullptr, &row_, &column_};
      case Orientation::y: return {&row_, nullptr, &column_};
      case Orientation::z: return {&row_, &column_, nullptr};
      case Orientation::z_direct: return {&column_, &row_, nullptr};
    }
    return {};
  };
  const Communicator* ranks = axes()[axis];
  return ranks && ranks->size() > 1 ? ranks : nullptr;
}

}  // namespace octant::pencil
