// Faces on closed boundaries of the domain, through which no gas enters.
//
// The state beyond a reflecting wall is the exact mirror image of the state before it, independent
// of reconstruction, predictor and sources in ghost cells. The flux is then (0, p, 0, 0, 0): mass,
// tangential momentum, energy and scalars do not pass. A Riemann solver that is symmetric in both
// sides gives exactly this flux; sums over several points may leave round-off, which is cleared.
//
// A diode boundary is a reflecting wall for gas that moves inwards. If the gas moves outwards, the
// state beyond the face is the same as before it, and gas leaves.
//
// Slopes in cells before a wall are computed with ghost cells that mirror all but the pressure:
// with an acceleration normal to the wall the pressure gradient there is d_n p = rho a_n, not 0. In
// well-balanced schemes density and pressure of ghost cells continue the hydrostatic profile of the
// cells before the wall or diode.
#pragma once

#include "hydro/kernel_arguments.hpp"
#include "hydro/tile_view.hpp"

namespace octant::hydro {

// Sets the state beyond a face along Axis from that before it. `Surface` defines the points on a
// face; below(point) and above(point) point to variable 0 of the cells on both sides, and variable
// n is n * stride further. The gas is above the face for side 0.
template <int Axis, class Surface, class Below, class Above>
KOKKOS_FORCEINLINE_FUNCTION void set_beyond(const Below& below, const Above& above, int side,
                                            bool is_diode, int variables, std::int64_t stride) {
  constexpr int normal = k_velocity_x + Axis;
  for (int t = 0; t < Surface::face_points; ++t) {
    double* const lower = below(Surface::template upper_point<Axis>(t));
    double* const upper = above(Surface::template lower_point<Axis>(t));
    const double* const from = side == 0 ? upper : lower;
    double* const to = side == 0 ? lower : upper;
    const double outwards = side == 0 ? -from[normal * stride] : from[normal * stride];
    const bool leaves = is_diode && outwards > 0.0;
    for (int n = 0; n < variables; ++n) {
      const double value = from[n * stride];
      to[n * stride] = n == normal && !leaves ? -value : value;
    }
  }
}

// Keeps only the pressure of a flux through a wall along Axis, or through a diode if gas would
// enter.
template <int Axis>
KOKKOS_FORCEINLINE_FUNCTION void close_flux(double* flux, int side, bool is_diode, int variables,
                                            std::int64_t stride) {
  const double outwards = side == 0 ? -flux[k_mass * stride] : flux[k_mass * stride];
  if (is_diode && outwards > 0.0) return;
  for (int n = 0; n < variables; ++n)
    if (n != k_momentum_x + Axis) flux[n * stride] = 0.0;
}

// Pressure of a ghost cell beyond walls: that of its mirror image, plus the weight of the gas
// between the two, p + rho a_n (x - x'), with the extrapolated density rho at the wall. Other cells
// keep their pressure. The result is positive even for steep profiles.
KOKKOS_INLINE_FUNCTION double pressure_beyond_walls(const KernelArguments& a, const TileView& view,
                                                    const int (&cell)[3], double pressure) {
  constexpr int k_widest_ghosts = 3;
  double weight = 0.0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int side = 0; side < 2; ++side) {
      const int wall = view.closed(axis, side);
      const int beyond = side == 0 ? wall - cell[axis] : cell[axis] - wall + 1;
      if (wall == TileView::k_none || beyond < 1 || beyond > k_widest_ghosts) continue;
      if (view.is_diode(axis, side)) continue;
      const auto density = [&](int before) {  // density of cell 0, 1, ... before the wall
        const int index = side == 0 ? wall + before : wall - 1 - before;
        const int x = axis == 0 ? index : cell[0], y = axis == 1 ? index : cell[1];
        const int z = axis == 2 ? index : cell[2];
        const CellPointer at = view.cell(a.sweep.current, view.block_row(y, z), x);
        return at.from ? *at.from : 0.0;  // k_mass
      };
      const double first = density(0);
      const double rho = max(min(1.5 * first - 0.5 * density(1), 2.0 * first), 0.5 * first);
      weight += (side == 0 ? 1 - 2 * beyond : 2 * beyond - 1) * a.sources.across_cell(axis) * rho;
    }
  }
  if (weight == 0.0) return pressure;
  const double share = weight / pressure;
  return share > -0.5 ? pressure + weight : pressure * (-0.25 / share);
}

// Density of a ghost cell beyond walls in isothermal gas: that of the pressure beyond walls, from
// the density and the pressure of the mirror image. Other cells keep their density.
KOKKOS_INLINE_FUNCTION double isothermal_density_beyond_walls(const KernelArguments& a,
                                                              const TileView& view,
                                                              const int (&cell)[3], double density,
                                                              double pressure) {
  const double beyond = pressure_beyond_walls(a, view, cell, pressure);
  if (beyond == pressure) return density;
  const auto x = [&](int axis) { return view.coordinate(a.sweep, axis, cell[axis]); };
  return beyond / a.isothermal_gas.sound.at(x(0), x(1), x(2));
}

// Factor for density and pressure of a ghost cell in well-balanced schemes. Beyond a wall the gas
// has the temperatures of its mirror image and supports the gas before the wall in equilibrium: the
// factor between a cell and its image is the ratio of means of hydrostatic profiles through all
// cells between them. Beyond a diode all cells have the temperature of the last cell. Other cells
// have the factor 1. Out of line: rarely needed.
OCTANT_OUT_OF_LINE inline double hydrostatic_factor(const KernelArguments& a, const TileView& view,
                                                    const int (&cell)[3]) {
  constexpr int k_widest_ghosts = 3;
  double factor = 1.0;
  for (int axis = 0; axis < 3; ++axis) {
    for (int side = 0; side < 2; ++side) {
      const int wall = view.closed(axis, side);
      const int beyond = side == 0 ? wall - cell[axis] : cell[axis] - wall + 1;
      if (wall == TileView::k_none || beyond < 1 || beyond > k_widest_ghosts) continue;
      if (!a.stratification.acts(axis)) continue;
      const auto across = [&](int before) {  // outward ratio of both faces of that cell
        const int index = side == 0 ? wall + before : wall - 1 - before;
        const int x = axis == 0 ? index : cell[0], y = axis == 1 ? index : cell[1];
        const int z = axis == 2 ? index : cell[2];
        const CellPointer at = view.cell(a.sweep.current, view.block_row(y, z), x);
        if (!at.from) return 1.0;
        double volume;
        const State<double> w =
            to_primitive<double>([&](int n) { return at.from[n * at.stride]; }, a.gas, volume);
        const HydrostaticFaces<double> faces(
            a.stratification.exponent(axis, w[k_density], w[k_pressure]));
        return side == 0 ? faces.lower / faces.upper : faces.upper / faces.lower;
      };
      if (view.is_diode(axis, side)) {
        const double ratio = across(0);
        for (int n = 0; n < beyond; ++n) factor *= ratio;
        continue;
      }
      for (int n = 0; n < beyond; ++n) {
        const double ratio = across(n);
        factor *= n < beyond - 1 ? ratio * ratio : ratio;
      }
    }
  }
  return factor;
}

}  // namespace octant::hydro
