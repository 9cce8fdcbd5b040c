// Access to single cells of a tile's patch and its ghosts, read from the boxes around the tile. A
// repair recomputes these cells with the same functions of the scheme as a sweep, hence with
// bitwise-identical results.
#pragma once

#include "hydro/fallback.hpp"
#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"
#include "hydro/walls.hpp"

namespace octant::hydro {

// Index (i, j, k) of a cell in a tile's patch; ghost cells lie outside 0..M-1.
struct CellIndices {
  int index[3];

  // Returns the index of the cell `by` cells further along an axis.
  KOKKOS_FORCEINLINE_FUNCTION CellIndices shifted(int axis, int by) const {
    const auto along = [&](int a) { return index[a] + (a == axis ? by : 0); };  // in registers
    return {{along(0), along(1), along(2)}};
  }
};

// Number of cells whose states a repair recomputes for one cell: number 0 is the cell itself,
// 1 + 2 axis + side its neighbour across a face.
inline constexpr int k_stencil_cells = 7;
// Returns the index of neighbour `number` of an unphysical cell.
KOKKOS_FORCEINLINE_FUNCTION CellIndices stencil_cell(const BadCell& cell, int number) {
  const CellIndices centre{{cell.i, cell.j, cell.k}};
  if (number == 0) return centre;
  return centre.shifted((number - 1) / 2, (number - 1) % 2 == 0 ? -1 : 1);
}

// Returns true if a face of a cell, below (side 0) or above (1) it, lies on a closed boundary of
// the domain.
KOKKOS_FORCEINLINE_FUNCTION bool is_closed(const TileView& view, const BadCell& cell, int axis,
                                           int side) {
  const int index = axis == 0 ? cell.i : axis == 1 ? cell.j : cell.k;
  return view.closed(axis, side) == index + side;
}

// Cells of one tile as conserved or primitive variables.
class SingleCellStencil {
 public:
  KOKKOS_FUNCTION SingleCellStencil(const KernelArguments& arguments, int tile)
      : a_(arguments), view_(arguments.sweep.tiles, tile) {}

  // Addresses of the tile's cells.
  KOKKOS_FORCEINLINE_FUNCTION const TileView& view() const { return view_; }

  // Conserved variables of a cell, as a function of the variable's index.
  KOKKOS_FUNCTION auto conserved(const CellIndices& c) const {
    const CellPointer p =
        view_.cell(a_.sweep.current, view_.block_row(c.index[1], c.index[2]), c.index[0]);
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): all cells of a stencil have data
    return [p](int n) { return p.from[n * p.stride]; };
  }
  // Primitive variable of a cell, as in the scheme. Not inlined on a GPU: a scheme calls it about a
  // hundred times, and nvcc would take minutes to compile the inlined calls.
  OCTANT_INLINE_ON_HOST double primitive(const CellIndices& c, int variable) const {
    double value = 0.0, pressure = 0.0;
    const auto keep = [&](int n, double w) {
      if (n == variable) value = w;
      if (n == k_pressure) pressure = w;
    };
    if (a_.gas.is_ideal())
      to_all_primitives<double>(conserved(c), keep, a_.ideal_gas, a_.variables);
    else to_all_primitives<double>(conserved(c), keep, a_.gas, a_.variables);
    if (variable == k_velocity_x)
      value -= a_.frame.velocity_x(view_.coordinate(a_.sweep, 1, c.index[1]));
    if (variable == k_velocity_y)
      value -= a_.frame.velocity_y(view_.coordinate(a_.sweep, 0, c.index[0]));
    if (a_.balanced) {
      if (variable == k_density || variable == k_pressure)
        value *= hydrostatic_factor(a_, view_, {c.index[0], c.index[1], c.index[2]});
    } else if (variable == k_pressure && a_.sources.any())
      value = pressure_beyond_walls(a_, view_, {c.index[0], c.index[1], c.index[2]}, value);
    else if (variable == k_density && a_.sources.any() && a_.is_isothermal)
      value = isothermal_density_beyond_walls(a_, view_, {c.index[0], c.index[1], c.index[2]},
                                              value, pressure);
    return value;
  }
  // Primitive variables of a cell, without scalars.
  KOKKOS_FUNCTION State<double> gas(const CellIndices& c) const {
    State<double> w;
    for (int n = 0; n < k_hydro_variables; ++n) w[n] = primitive(c, n);
    return w;
  }
  // Coordinates of a cell's centre, in code units.
  KOKKOS_FUNCTION Vector<double> position(const CellIndices& c) const {
    return view_.position<double>(a_.sweep, c.index[2], c.index[1], c.index[0]);
  }

 private:
  const KernelArguments& a_;
  TileView view_;
};

}  // namespace octant::hydro
