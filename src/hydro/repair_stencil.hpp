// The cells that a repair reads: primitive variables in a cube around each unphysical cell, in
// device memory. A repair recomputes states and fluxes from them with the same functions of the
// scheme as a sweep, hence with bitwise-identical results.
#pragma once

#include "hydro/fallback.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/scheme.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

// Number of cells whose states a repair recomputes for one cell: number 0 is the cell itself,
// 1 + 2 axis + side its neighbour across a face.
inline constexpr int k_stencil_cells = 7;

// Offset of a cell from an unphysical one.
struct CellOffset {
  int x, y, z;

  // Offset of the stencil's cell `number`.
  KOKKOS_FORCEINLINE_FUNCTION static CellOffset of(int number) {
    const int by = number % 2 == 0 ? 1 : -1;
    return {number == 1 || number == 2 ? by : 0, number == 3 || number == 4 ? by : 0,
            number == 5 || number == 6 ? by : 0};
  }
};

// Returns true if a face of a cell, below (side 0) or above (1) it, lies on a closed boundary of
// the domain.
KOKKOS_FORCEINLINE_FUNCTION bool is_closed(const TileView& view, const BadCell& cell, int axis,
                                           int side) {
  const int index = axis == 0 ? cell.i : axis == 1 ? cell.j : cell.k;
  return view.closed(axis, side) == index + side;
}

// Primitive variables as a scheme reads them, with the shape (cells, values, side, side, side),
// side = 2 reach + 1: at(cell, n, x, y, z) is number n of KernelArguments::cell_values at the
// offset (x, y, z) from an unphysical cell. Only the cells of the scheme's ghost shape are set.
struct RepairStencil {
  double* data;
  int reach;
  int cell_values;

  // Doubles per unphysical cell.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t doubles(int reach, int cell_values) {
    const int side = 2 * reach + 1;
    return std::int64_t{cell_values} * side * side * side;
  }
  KOKKOS_FORCEINLINE_FUNCTION double& at(int cell, int n, int x, int y, int z) const {
    const int side = 2 * reach + 1;
    return data[(((std::int64_t{cell} * cell_values + n) * side + z + reach) * side + y + reach) *
                    side +
                x + reach];
  }
  // Primitive variables around the cell at an offset, for schemes.
  KOKKOS_FORCEINLINE_FUNCTION StridedCells around(int cell, int x, int y, int z) const {
    const std::int64_t side = 2 * reach + 1;
    return {&at(cell, 0, x, y, z), side * side * side, side, side * side};
  }
};

}  // namespace octant::hydro
