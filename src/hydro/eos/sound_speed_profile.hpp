// Sound speed of locally isothermal gas as a function of position.
#pragma once

#include "core/compiler.hpp"
#include "core/power.hpp"

namespace octant::hydro {

// Squared isothermal sound speed
//   c^2 = c_0^2 ((R^2 + s^2) / R_0^2)^q
// at the distance R from an axis through a centre. Copied to kernels by value.
struct SoundSpeedProfile {
  double square = 0.0;                 // c_0^2
  double exponent = 0.0;               // q; 0: uniform
  double inverse_square_radius = 1.0;  // 1 / R_0^2
  double square_softening = 0.0;       // s^2
  double centre[3] = {0.0, 0.0, 0.0};
  double weight[3] = {0.0, 0.0, 0.0};  // 1 for the coordinates that R contains, otherwise 0

  // True unless the sound speed is uniform.
  KOKKOS_FORCEINLINE_FUNCTION bool varies() const { return exponent != 0.0; }

  // c^2 at a position. One power if the sound speed varies.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION V at(const V& x, const V& y, const V& z) const {
    if (!varies()) return V(square);
    const V dx = x - V(centre[0]), dy = y - V(centre[1]), dz = z - V(centre[2]);
    const V radius_squared =
        (V(weight[0]) * dx * dx + V(weight[1]) * dy * dy) + V(weight[2]) * dz * dz;
    const V ratio = (radius_squared + V(square_softening)) * V(inverse_square_radius);
    return V(square) * power(ratio, exponent);
  }
};

}  // namespace octant::hydro
