// Events: supernovae, jets and the like, which change the gas in the cells around a place.
#pragma once

#include <cstdint>

#include "mesh/cell_range.hpp"
#include "mesh/geometry.hpp"

namespace octant::subgrid {

// Where an event happens: all leaf cells whose centres lie within a radius, on whatever level and
// rank, by the nearest image; where there are none, the cell that holds the place. In code length.
struct EventPlace {
  std::uint64_t id = 0;  // unique over all ranks; cells add up what they get in this order
  double centre[3] = {}, radius = 0.0;
  // The block with the leaf cell that holds the centre, on the rank that owns it; -1 elsewhere.
  std::int32_t level = -1, slot = -1;
};

// A cell as an event sees it.
struct CellAround {
  double way[3];  // from the event to the cell's centre
  double square;  // of its length
  double volume;
};

// What a cell gets from events, per volume. Energies are total ones.
struct Gain {
  double mass = 0.0, momentum[3] = {}, energy = 0.0, metals = 0.0;
  double floor_energy = 0.0;  // what keeps the pressure's floor

  KOKKOS_FORCEINLINE_FUNCTION Gain& operator+=(const Gain& other) {
    mass += other.mass;
    for (int d = 0; d < 3; ++d) momentum[d] += other.momentum[d];
    energy += other.energy;
    metals += other.metals;
    return *this;
  }
};

// The sizes of a domain along its periodic axes; 0 along others.
struct Periods {
  double size[3];

  explicit Periods(const mesh::Geometry& geometry) {
    for (int d = 0; d < 3; ++d)
      size[d] = geometry.periodic(d) ? geometry.upper()[d] - geometry.lower()[d] : 0.0;
  }

  // Of a way between two places in the domain.
  KOKKOS_FORCEINLINE_FUNCTION double nearest(int axis, double way) const {
    const double half = 0.5 * size[axis];
    if (size[axis] == 0.0) return way;
    return way > half ? way - size[axis] : way < -half ? way + size[axis] : way;
  }

  KOKKOS_FORCEINLINE_FUNCTION CellAround look(const EventPlace& event,
                                              const mesh::DevicePosition& cell,
                                              double volume) const {
    CellAround around{{}, 0.0, volume};
    for (int d = 2; d >= 0; --d) {  // as for_row_inside() does
      around.way[d] = nearest(d, cell[d] - event.centre[d]);
      around.square += around.way[d] * around.way[d];
    }
    return around;
  }
};

KOKKOS_FORCEINLINE_FUNCTION bool is_inside(const EventPlace& event, const CellAround& cell) {
  return cell.square <= event.radius * event.radius;
}

// A box of cells in a block: [first, last) along each axis.
struct CellBounds {
  int first[3], last[3];
};

// All cells of a block whose centres an event may hold, and the one that it happens in.
KOKKOS_FORCEINLINE_FUNCTION CellBounds bounds_of(const EventPlace& event,
                                                 const mesh::OwnBlock& block,
                                                 const mesh::CellRange& cells,
                                                 const Periods& periods) {
  constexpr double slack = 1e-6;  // of a cell, for rounding
  const int N = cells.block_size();
  const double dx = cells.cell_size, per_dx = 1.0 / dx, half = 0.5 * N * dx;
  const double reach = max(event.radius * per_dx, 0.5);  // in cells
  const auto within = [&](double coordinate) {
    return static_cast<int>(min(max(coordinate, 0.0), static_cast<double>(N)));
  };
  CellBounds bounds;
  for (int d = 0; d < 3; ++d) {
    bounds.first[d] = 0, bounds.last[d] = N;
    // Where a block may be reached by two images, all of it is looked at.
    if (periods.size[d] > 0.0 && 2.0 * (reach * dx + half) >= periods.size[d]) continue;
    // From the event to the centre of the block's first cell, in cells.
    const double middle = block.corner[d] + half - event.centre[d];
    const double way = (periods.nearest(d, middle) - half) * per_dx + 0.5;
    bounds.first[d] = within(Kokkos::ceil(-reach - way - slack));
    bounds.last[d] = within(Kokkos::floor(reach - way + slack) + 1.0);
  }
  return bounds;
}

// Calls visit(index, around) for the cells of a row that an event holds: cells [first, last) of row
// (j, k) of a block.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_row_inside(const EventPlace& event,
                                                const mesh::OwnBlock& block,
                                                const mesh::CellRange& cells,
                                                const Periods& periods, double volume, int first,
                                                int last, int j, int k, const Visit& visit) {
  const auto way = [&](int d, int coordinate) {
    const double centre = block.corner[d] + (coordinate + 0.5) * cells.cell_size;
    return periods.nearest(d, centre - event.centre[d]);
  };
  CellAround around{{0.0, way(1, j), way(2, k)}, 0.0, volume};
  const double most = event.radius * event.radius;
  const double across = around.way[2] * around.way[2] + around.way[1] * around.way[1];
  if (across > most) return;
  for (int i = first; i < last; ++i) {
    around.way[0] = way(0, i);
    around.square = across + around.way[0] * around.way[0];
    if (around.square <= most) visit((k * cells.block_size() + j) * cells.block_size() + i, around);
  }
}

// The cell that an event happens in, of a block that holds it.
KOKKOS_INLINE_FUNCTION int host_cell(const EventPlace& event, const mesh::OwnBlock& block,
                                     const mesh::CellRange& cells) {
  const int N = cells.block_size();
  int index = 0;
  for (int d = 2; d >= 0; --d) {
    const auto cell =
        static_cast<int>(Kokkos::floor((event.centre[d] - block.corner[d]) / cells.cell_size));
    index = index * N + (cell < 0 ? 0 : cell < N ? cell : N - 1);
  }
  return index;
}

}  // namespace octant::subgrid
