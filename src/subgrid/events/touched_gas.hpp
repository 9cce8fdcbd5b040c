// The gas that events touch, and loops over it.
#pragma once

#include <vector>

#include "core/teams.hpp"
#include "mesh/device.hpp"
#include "subgrid/events/event_exchange.hpp"
#include "subgrid/leaf_cells.hpp"

namespace octant::subgrid {

// The user's passive scalars among the variables of a cell.
struct PassiveScalars {
  int first = 0, count = 0;
};

// The gas that events see and change.
struct EventTarget {
  hydro::Gas gas;
  int metals = -1;   // the variable that holds the density of metals, if there is one
  int ejecta = -1;   // one that grows by all the mass that events bring, if there is one
  int coarsest = 0;  // cells of coarser levels, which are at another time, take no part
  PassiveScalars passive = {};
};

namespace events {

// The gas of the blocks of a level that events touch.
template <class Event>
struct TouchedGas {
  using Member = Kokkos::TeamPolicy<>::member_type;

  GasLevel level;
  mesh::CellRange cells;  // of the touched blocks
  Periods periods;
  mesh::DeviceArray<const std::int32_t> begins, numbers;  // TouchedBlocks: begins, events
  mesh::DeviceArray<const Event> events;

  TouchedGas(mesh::Mesh& mesh, int number, const hydro::Gas& gas, const TouchedBlocks& touched,
             const mesh::DeviceArray<const Event>& all)
      : level(mesh, number, gas),
        cells(mesh.cells(number, touched.slots)),
        periods(mesh.geometry()),
        begins(mesh::to_device("first events", touched.begins)),
        numbers(mesh::to_device("numbers", touched.events)),
        events(all) {}

  // Calls kernel(team) for every block, whose team has memory for a Value per cell and a number per
  // row of cells, in this order.
  template <class Value, class Kernel>
  void for_blocks(const char* name, const Kernel& kernel) const {
    Kokkos::TeamPolicy<> policy(cells.count(), team_threads());
    policy.set_scratch_size(1, Kokkos::PerTeam(sizeof(Value) * cells.cells_per_block() +
                                               sizeof(std::uint32_t) * rows_per_block()));
    Kokkos::parallel_for(name, policy, kernel);
  }
  template <class Value>
  KOKKOS_INLINE_FUNCTION Value* value_per_cell(const Member& team) const {
    return static_cast<Value*>(
        team.team_scratch(1).get_shmem(sizeof(Value) * cells.cells_per_block()));
  }

  KOKKOS_INLINE_FUNCTION std::uint32_t* number_per_row(const Member& team) const {
    return static_cast<std::uint32_t*>(
        team.team_scratch(1).get_shmem(sizeof(std::uint32_t) * rows_per_block()));
  }
  KOKKOS_INLINE_FUNCTION int rows_per_block() const {
    return cells.block_size() * cells.block_size();
  }

  KOKKOS_FORCEINLINE_FUNCTION const Event& event(std::int64_t touch) const {
    return events(numbers(touch));
  }
  // Whether a block holds the cell that an event happens in, and that cell.
  KOKKOS_FORCEINLINE_FUNCTION bool is_host(const Event& event, const mesh::OwnBlock& block) const {
    return event.place.level == level.number && event.place.slot == block.slot;
  }
  KOKKOS_INLINE_FUNCTION int host(const Event& event, const mesh::OwnBlock& block) const {
    return host_cell(event.place, block, cells);
  }
  KOKKOS_INLINE_FUNCTION CellBounds bounds(const Event& event, const mesh::OwnBlock& block) const {
    return bounds_of(event.place, block, cells, periods);
  }

  // Calls body(j, k) for the rows of a box, which a team shares.
  template <class Body>
  KOKKOS_INLINE_FUNCTION void for_rows(const Member& team, const CellBounds& box,
                                       const Body& body) const {
    const int rows = box.last[1] - box.first[1], planes = box.last[2] - box.first[2];
    if (rows <= 0 || planes <= 0) return;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, rows * planes),
                         [&](int n) { body(box.first[1] + n % rows, box.first[2] + n / rows); });
  }
  // Calls visit(index, around) for the leaf cells of a row of an event's bounds that it reaches.
  template <class Visit>
  KOKKOS_FORCEINLINE_FUNCTION void for_row(const Event& event, const mesh::OwnBlock& block,
                                           const CellBounds& box, int j, int k,
                                           const Visit& visit) const {
    for_row_inside(event.place, block, cells, periods, level.cell_volume, box.first[0], box.last[0],
                   j, k, [&](int index, const CellAround& around) {
                     if (!(block.refined >> cells.octant_of(index) & 1)) visit(index, around);
                   });
  }
  // The same for all rows, one after the other.
  template <class Visit>
  KOKKOS_INLINE_FUNCTION void for_all_rows(const Event& event, const mesh::OwnBlock& block,
                                           const Visit& visit) const {
    const CellBounds box = bounds(event, block);
    for (int k = box.first[2]; k < box.last[2]; ++k)
      for (int j = box.first[1]; j < box.last[1]; ++j) for_row(event, block, box, j, k, visit);
  }
};

// Calls visit(level, its touched blocks, their gas) for the levels that take part.
template <class Event, class Visit>
void for_touched_levels(mesh::Mesh& mesh, const EventTarget& target,
                        const Reaching<Event>& reaching, const std::vector<TouchedBlocks>& touched,
                        const Visit& visit) {
  const mesh::DeviceArray<const Event> events = mesh::to_device("events", reaching.events);
  for (int level = target.coarsest; level < static_cast<int>(touched.size()); ++level) {
    const TouchedBlocks& here = touched[level];
    if (here.events.empty()) continue;
    visit(level, here, TouchedGas<Event>(mesh, level, target.gas, here, events));
  }
}

}  // namespace events

}  // namespace octant::subgrid
