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
  bool any = false;           // whether an event reached the cell

  KOKKOS_FORCEINLINE_FUNCTION Gain& operator+=(const Gain& other) {
    mass += other.mass;
    for (int d = 0; d < 3; ++d) momentum[d] += other.momentum[d];
    energy += other.energy;
    metals += other.metals;
    any = true;
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
    for (int d = 0; d < 3; ++d) {
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

// All cells of a block whose centres an event may hold, and perhaps some more.
KOKKOS_INLINE_FUNCTION CellBounds bounds_of(const EventPlace& event, const mesh::OwnBlock& block,
                                            const mesh::CellRange& cells, const Periods& periods) {
  const int N = cells.block_size();
  const double dx = cells.cell_size, half = 0.5 * N * dx;
  CellBounds bounds;
  for (int d = 0; d < 3; ++d) {
    bounds.first[d] = 0, bounds.last[d] = N;
    // Where a block may be reached by two images, all of it is looked at.
    if (periods.size[d] > 0.0 && 2.0 * (event.radius + half) >= periods.size[d]) continue;
    const double corner = periods.nearest(d, block.corner[d] + half - event.centre[d]) - half;
    const double first = Kokkos::floor((-event.radius - corner) / dx - 0.5);
    const double last = Kokkos::ceil((event.radius - corner) / dx + 0.5);
    if (first > 0.0) bounds.first[d] = first < N ? static_cast<int>(first) : N;
    if (last < N) bounds.last[d] = last > 0.0 ? static_cast<int>(last) : 0;
  }
  return bounds;
}

// Whether an event happens in a cell of a block of this rank's.
KOKKOS_INLINE_FUNCTION bool happens_in(const EventPlace& event, int level,
                                       const mesh::OwnBlock& block, int index,
                                       const mesh::CellRange& cells) {
  if (event.level != level || event.slot != block.slot) return false;
  const int N = cells.block_size();
  bool here = true;
  for (int d = 0; d < 3; ++d) {
    const auto cell =
        static_cast<int>(Kokkos::floor((event.centre[d] - block.corner[d]) / cells.cell_size));
    here = here && cells.coordinate(index, d) == (cell < 0 ? 0 : cell < N ? cell : N - 1);
  }
  return here;
}

}  // namespace octant::subgrid
