// Barotropic equations of state: the pressure is a function of the density alone.
#pragma once

#include <Kokkos_Array.hpp>

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "core/simd.hpp"

namespace octant::hydro {

// Pressure of a barotropic gas, and the exponent Gamma = d ln p / d ln rho.
template <class V>
struct BarotropicState {
  V pressure, exponent;

  // Squared sound speed dp/drho = Gamma p / rho at this density. One division.
  KOKKOS_FORCEINLINE_FUNCTION V squared_sound_speed(const V& density) const {
    return exponent * pressure / density;
  }
};

// Piecewise polytropic, continuous pressure: in piece n, above the density rho_n,
//   p = p_n (rho / rho_n)^Gamma_n.
// The first piece extends to rho = 0. One piece with the exponent 1 is an isothermal gas. Copied to
// kernels by value.
struct Barotrope {
  static constexpr int k_max_pieces = 8;

  int pieces = 0;  // 0: the gas has an ideal equation of state
  Kokkos::Array<double, k_max_pieces> density{}, inverse_density{}, pressure{}, exponent{};

  // Appends a piece that begins with this density and pressure.
  void add_piece(double rho, double p, double gamma) {
    density[pieces] = rho;
    inverse_density[pieces] = 1.0 / rho;
    pressure[pieces] = p;
    exponent[pieces] = gamma;
    ++pieces;
  }

  // Pressure and exponent at a density, which must be positive. One power for each piece with an
  // exponent other than 1 that contains any lane; lanes do not depend on each other.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION BarotropicState<V> at(const V& rho) const {
    BarotropicState<V> state{V(pressure[0] * inverse_density[0]) * rho, V(exponent[0])};
    for (int n = 0; n < pieces; ++n) {
      const bool is_last = n + 1 == pieces;
      const V begin(n == 0 ? 0.0 : density[n]), end(is_last ? 0.0 : density[n + 1]);
      const auto is_here = is_last ? rho >= begin : rho >= begin && rho < end;
      if (!any(is_here)) continue;
      const V ratio = select(is_here, rho, V(density[n])) * V(inverse_density[n]);
      const V growth = exponent[n] == 1.0 ? ratio : power(ratio, exponent[n]);
      state.pressure = select(is_here, V(pressure[n]) * growth, state.pressure);
      state.exponent = select(is_here, V(exponent[n]), state.exponent);
    }
    return state;
  }
};

}  // namespace octant::hydro
