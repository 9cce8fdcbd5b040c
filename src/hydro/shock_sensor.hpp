// Strength of strong shocks along the axes, from a cell and its six neighbours, for Riemann solvers
// with `senses_shocks` at faces whose normal is perpendicular to that of a shock (riemann.hpp).
#pragma once

#include "core/compiler.hpp"
#include "hydro/euler.hpp"

namespace octant::hydro {

// States of the two neighbours of a cell along one axis; `u` is the velocity along the axis.
template <class V>
struct ShockStencil {
  V density_below, density_above, u_below, u_above, pressure_below, pressure_above;

  // Velocity difference along the axis; positive if the gas is compressed.
  KOKKOS_FORCEINLINE_FUNCTION V difference() const { return u_below - u_above; }
};

// Detects strong shocks along an axis, between the two neighbours of a cell.
struct ShockSensor {
  // Relative pressure difference p_max / p_min - 1: limits of the ramp from 0 to 1.
  static constexpr double k_min_jump = 0.5, k_full_jump = 1.0;
  // Velocity difference in units of the speed of sound: limits of the ramp.
  static constexpr double k_min_speed = 0.1, k_full_speed = 0.2;
  // Pressure difference in units of rho_min (velocity difference)^2: limits of the ramp. In a shock
  // the ratio is 1/(1 - rho_1 / rho_2) or more; pressure noise in cold flows has much less.
  static constexpr double k_min_thrust = 0.25, k_full_thrust = 0.5;
  // Density ratio in units of (gamma + 1) / (gamma - 1), its maximum in shocks: limits of the ramp.
  // Edges of dense bodies exceed the maximum; there HLL's dissipation would empty rarefied cells.
  static constexpr double k_max_contrast = 1.25, k_no_contrast = 1.75;

  // Quick test: true if the pressure difference is large enough for a shock.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static auto may_hold(const V& pressure_below,
                                                   const V& pressure_above) {
    return max(pressure_below, pressure_above) >
           V(1.0 + k_min_jump) * min(pressure_below, pressure_above);
  }

  // Strength from 0 to 1: the minimum of four ramps. `compression` is the sum of the velocity
  // differences along all axes, which vanishes in vortices; `stiffness` is gamma p of the centre.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V strength(const ShockStencil<V>& s, const V& compression,
                                                const V& density, const V& stiffness,
                                                double gamma) {
    const V speed = max(min(s.difference(), compression), V(0.0)), square = speed * speed;
    const V least = min(s.pressure_below, s.pressure_above);
    const V jump = max(s.pressure_below, s.pressure_above) - least;
    const V thin = min(s.density_below, s.density_above);
    const V contrast = max(s.density_below, s.density_above) / thin;
    const V momentum = thin * square;
    const V by_pressure = ramp(V(jump / least), k_min_jump, k_full_jump);
    const V by_speed = ramp(V(density * square / stiffness), k_min_speed * k_min_speed,
                            k_full_speed * k_full_speed);
    const V by_thrust =
        ramp(V(jump / select(momentum > V(0.0), momentum, V(1.0))), k_min_thrust, k_full_thrust);
    const V by_contrast = V(1.0) - ramp(V(contrast * V((gamma - 1.0) / (gamma + 1.0))),
                                        k_max_contrast, k_no_contrast);
    return select(momentum > V(0.0), min(min(by_pressure, by_speed), min(by_thrust, by_contrast)),
                  V(0.0));
  }

 private:
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static V ramp(const V& value, double least, double full) {
    return max(min((value - V(least)) * V(1.0 / (full - least)), V(1.0)), V(0.0));
  }
};

// Input of transverse_shocks().
template <class V>
struct ShockStencils {
  ShockStencil<V> along[3];
  V density, pressure;
};

// Returns for each axis the largest strength along the other two axes. Out of line, because few
// cells need it.
template <class V>
OCTANT_OUT_OF_LINE Vector<V> transverse_shocks(const ShockStencils<V> cells, double gamma) {
  const V stiffness = V(gamma) * cells.pressure;
  const V compression =
      (cells.along[0].difference() + cells.along[1].difference()) + cells.along[2].difference();
  V strength[3];
  OCTANT_UNROLL(3)
  for (int axis = 0; axis < 3; ++axis)
    strength[axis] =
        ShockSensor::strength(cells.along[axis], compression, cells.density, stiffness, gamma);
  return {max(strength[1], strength[2]), max(strength[2], strength[0]),
          max(strength[0], strength[1])};
}

// Computes transverse_shocks() from the primitive variables cell(n, x, y, z) around a cell;
// keep(axis, value) stores the strengths.
template <class V, class Cell, class Keep>
KOKKOS_FORCEINLINE_FUNCTION void find_transverse_shocks(const Cell& cell, double gamma,
                                                        const Keep& keep) {
  const auto next = [&](int n, int axis, int o) OCTANT_INLINE_LAMBDA {
    return V(cell(n, axis == 0 ? o : 0, axis == 1 ? o : 0, axis == 2 ? o : 0));
  };
  const auto may_hold = [&](int axis) OCTANT_INLINE_LAMBDA {
    return ShockSensor::may_hold(next(k_pressure, axis, -1), next(k_pressure, axis, 1));
  };
  Vector<V> shocks{V(0.0), V(0.0), V(0.0)};
  if (any(may_hold(0) || may_hold(1) || may_hold(2))) {
    ShockStencils<V> cells;
    OCTANT_UNROLL(3)
    for (int axis = 0; axis < 3; ++axis)
      cells.along[axis] = {next(k_density, axis, -1),           next(k_density, axis, 1),
                           next(k_velocity_x + axis, axis, -1), next(k_velocity_x + axis, axis, 1),
                           next(k_pressure, axis, -1),          next(k_pressure, axis, 1)};
    cells.density = cell(k_density, 0, 0, 0), cells.pressure = cell(k_pressure, 0, 0, 0);
    shocks = transverse_shocks(cells, gamma);
  }
  OCTANT_UNROLL(3)
  for (int axis = 0; axis < 3; ++axis) keep(axis, shocks[axis]);
}

}  // namespace octant::hydro
