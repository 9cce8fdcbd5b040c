// Isothermal gas in kernels: p = c^2 rho with a uniform sound speed, or with one that is a fixed
// function of position (locally isothermal gas, as in models of protoplanetary discs).
//
// Sweeps of isothermal gas do not reconstruct the pressure. It follows from the density at the face
// and the sound speed there, which is the same on both sides.
#pragma once

#include <type_traits>

#include "core/compiler.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro {

// Gas of the kernels for isothermal gas.
struct IsothermalGas : Gas {
  SoundSpeedProfile sound;
  double half_cell;  // half the cell size

  IsothermalGas(const Gas& gas, const SoundSpeedProfile& profile, double dx)
      : Gas(gas), sound(profile), half_cell(0.5 * dx) {}
};

// True for gas without reconstructed pressures.
template <class G>
inline constexpr bool k_is_isothermal = std::is_same_v<G, IsothermalGas>;

// Squared sound speeds at the centre and at the face centres of a cell.
template <class V>
struct CellSound {
  V centre;
  V face[6];  // at the lower and the upper face along each axis; set if the sound speed varies

  // position() returns the cell centre. Up to five powers if the sound speed varies.
  template <class PositionFunction>
  KOKKOS_FORCEINLINE_FUNCTION CellSound(const IsothermalGas& gas, const PositionFunction& position)
      : centre(gas.sound.square) {
    if (!gas.sound.varies()) return;
    const auto x = position();
    centre = gas.sound.at(x[0], x[1], x[2]);
    OCTANT_UNROLL(3)
    for (int axis = 0; axis < 3; ++axis) {
      if (gas.sound.weight[axis] == 0.0) {
        face[2 * axis] = face[2 * axis + 1] = centre;
        continue;
      }
      auto lower = x, upper = x;
      lower[axis] = x[axis] - V(gas.half_cell);
      upper[axis] = x[axis] + V(gas.half_cell);
      face[2 * axis] = gas.sound.at(lower[0], lower[1], lower[2]);
      face[2 * axis + 1] = gas.sound.at(upper[0], upper[1], upper[2]);
    }
  }

  // Difference between the faces along an axis; 0 for a uniform sound speed.
  KOKKOS_FORCEINLINE_FUNCTION V difference(const IsothermalGas& gas, int axis) const {
    return gas.sound.varies() ? V(face[2 * axis + 1] - face[2 * axis]) : V(0.0);
  }
};

}  // namespace octant::hydro
