// Events such as supernovae and jets, which change the gas in the cells around a position.
#pragma once

#include <cstdint>

#include "mesh/cell_range.hpp"
#include "mesh/geometry.hpp"

namespace octant::subgrid {

// Position and radius of an event in code length. The event affects all leaf cells whose centres,
// or periodic images of them, lie within the radius, on any level and rank. If there are none, it
// affects the host cell, which contains the position.
struct EventRegion {
  // number unique over all ranks; deposits in a cell are added in the order of ids
  std::uint64_t id = 0;
  double centre[3] = {}, radius = 0.0;
  // Block with the host cell, on the rank that owns the block; -1 on other ranks.
  std::int32_t level = -1, slot = -1;
};

// Cell relative to an event.
struct CellAround {
  double displacement[3];  // vector from the event to the cell's centre
  double distance_squared;
  double volume;
};

// Change of the gas in a cell by events, per volume. `energy` is the total energy.
struct Deposit {
  double mass = 0.0, momentum[3] = {}, energy = 0.0, metals = 0.0;
  double floor_energy = 0.0;  // energy added by the pressure floor

  KOKKOS_FORCEINLINE_FUNCTION Deposit& operator+=(const Deposit& other) {
    mass += other.mass;
    for (int d = 0; d < 3; ++d) momentum[d] += other.momentum[d];
    energy += other.energy;
    metals += other.metals;
    return *this;
  }
};

// Domain sizes along periodic axes; 0 along others.
struct Periods {
  double size[3];

  explicit Periods(const mesh::Geometry& geometry) {
    for (int d = 0; d < 3; ++d)
      size[d] = geometry.periodic(d) ? geometry.upper()[d] - geometry.lower()[d] : 0.0;
  }

  // Returns the component of a separation along an axis to the nearest periodic image.
  KOKKOS_FORCEINLINE_FUNCTION double nearest(int axis, double displacement) const {
    const double half = 0.5 * size[axis];
    if (size[axis] == 0.0) return displacement;
    return displacement > half    ? displacement - size[axis]
           : displacement < -half ? displacement + size[axis]
                                  : displacement;
  }

  // Returns a cell, given its centre, relative to an event.
  KOKKOS_FORCEINLINE_FUNCTION CellAround cell_around(const EventRegion& event,
                                                     const mesh::DevicePosition& cell_centre,
                                                     double volume) const {
    CellAround around{{}, 0.0, volume};
    for (int d = 2; d >= 0; --d) {  // same order of sums as in for_row_inside()
      around.displacement[d] = nearest(d, cell_centre[d] - event.centre[d]);
      around.distance_squared += around.displacement[d] * around.displacement[d];
    }
    return around;
  }
};

// True if the cell's centre lies within the event's radius.
KOKKOS_FORCEINLINE_FUNCTION bool is_inside(const EventRegion& event, const CellAround& cell) {
  return cell.distance_squared <= event.radius * event.radius;
}

// A box of cells in a block: [first, last) along each axis.
struct CellBounds {
  int first[3], last[3];
};

// Bounds of the cells in a block whose centres may lie within the radius, including the host cell.
KOKKOS_FORCEINLINE_FUNCTION CellBounds bounds_of(const EventRegion& event,
                                                 const mesh::OwnBlock& block,
                                                 const mesh::CellRange& cells,
                                                 const Periods& periods) {
  constexpr double slack = 1e-6;  // tolerance for rounding, in cells
  const int N = cells.block_size();
  const double dx = cells.cell_size, per_dx = 1.0 / dx, half = 0.5 * N * dx;
  const double reach = max(event.radius * per_dx, 0.5);  // radius in cells
  const auto within = [&](double coordinate) {
    return static_cast<int>(min(max(coordinate, 0.0), static_cast<double>(N)));
  };
  CellBounds bounds;
  for (int d = 0; d < 3; ++d) {
    bounds.first[d] = 0, bounds.last[d] = N;
    // All cells are included if two images of the event may reach the block.
    if (periods.size[d] > 0.0 && 2.0 * (reach * dx + half) >= periods.size[d]) continue;
    // Distance from the event to the centre of the block's first cell, in cells.
    const double middle = block.corner[d] + half - event.centre[d];
    const double displacement = (periods.nearest(d, middle) - half) * per_dx + 0.5;
    bounds.first[d] = within(Kokkos::ceil(-reach - displacement - slack));
    bounds.last[d] = within(Kokkos::floor(reach - displacement + slack) + 1.0);
  }
  return bounds;
}

// Calls visit(index, around) for those of the cells [first, last) of row (j, k) of a block whose
// centres lie within the event's radius.
template <class Visit>
KOKKOS_FORCEINLINE_FUNCTION void for_row_inside(const EventRegion& event,
                                                const mesh::OwnBlock& block,
                                                const mesh::CellRange& cells,
                                                const Periods& periods, double volume, int first,
                                                int last, int j, int k, const Visit& visit) {
  const auto displacement = [&](int d, int coordinate) {
    const double centre = block.corner[d] + (coordinate + 0.5) * cells.cell_size;
    return periods.nearest(d, centre - event.centre[d]);
  };
  CellAround around{{0.0, displacement(1, j), displacement(2, k)}, 0.0, volume};
  const double most = event.radius * event.radius;
  const double across = around.displacement[2] * around.displacement[2] +
                        around.displacement[1] * around.displacement[1];
  if (across > most) return;
  for (int i = first; i < last; ++i) {
    around.displacement[0] = displacement(0, i);
    around.distance_squared = across + around.displacement[0] * around.displacement[0];
    if (around.distance_squared <= most)
      visit((k * cells.block_size() + j) * cells.block_size() + i, around);
  }
}

// Index, in the host block, of the cell that contains the event.
KOKKOS_INLINE_FUNCTION int host_cell(const EventRegion& event, const mesh::OwnBlock& block,
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
