// Addresses and coordinates of the cells of one tile.
#pragma once

#include "core/simd.hpp"
#include "hydro/kernel_arguments.hpp"
#include "mesh/tile_cells.hpp"

namespace octant::hydro {

using mesh::BlockRow;
using mesh::CellPointer;

// Addresses of the cells of one tile, and their coordinates.
class TileView : public mesh::TileCells {
 public:
  using TileCells::TileCells;

  // Coordinate along an axis in cell `index`: at the fraction `share` of the cell from its lower
  // face, 0.5 for the centre.
  KOKKOS_FORCEINLINE_FUNCTION double coordinate(const SweepArguments& sweep, int axis, int index,
                                                double share = 0.5) const {
    return sweep.lower[axis] + (static_cast<double>(tile().first[axis] + index) + share) * sweep.dx;
  }
  // Centres of a pack of patch cells that begins with cell i of a row.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION Vector<V> position(const SweepArguments& sweep, int k, int j,
                                                 int i) const {
    return {SimdTraits<V>::generate([&](int lane) { return coordinate(sweep, 0, i + lane); }),
            V(coordinate(sweep, 1, j)), V(coordinate(sweep, 2, k))};
  }
  // Transforms a flux through the lower faces along an axis of a pack of cells from the rotating to
  // the inertial frame.
  template <int Axis, class V>
  KOKKOS_FORCEINLINE_FUNCTION State<V> out_of_frame(const mesh::Frame& frame,
                                                    const SweepArguments& sweep,
                                                    const State<V>& flux, int j, int i) const {
    const V x = SimdTraits<V>::generate(
        [&](int lane) { return coordinate(sweep, 0, i + lane, Axis == 0 ? 0.0 : 0.5); });
    const V y(coordinate(sweep, 1, j, Axis == 1 ? 0.0 : 0.5));
    return boosted(flux, frame.velocity_x(y), frame.velocity_y(x));
  }
};

}  // namespace octant::hydro
