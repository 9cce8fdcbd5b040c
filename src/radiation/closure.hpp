// M1 closure of the moments of the radiation field, after Levermore (1984). Energy fluxes F are
// divided by c, so that all moments are energy densities; fluxes are in units of the (reduced)
// speed of light.
//
//   d_t E + div F = 0,  d_t F + div P = 0,  P = E ((1 - chi)/2 + (3 chi - 1)/2 n n),  n = F / |F|,
//   chi = (3 + 4 f^2) / (5 + 2 g) = (5 - 2 g) / 3,  g = sqrt(4 - 3 f^2),  f = |F| / E <= 1
#pragma once

#include "core/simd.hpp"

namespace octant::radiation {

// Moments of the radiation: energy density, then the three components of F / c.
enum Moment { k_energy_density, k_flux_x, k_flux_y, k_flux_z, k_moments };

// Four numbers, one per moment.
template <class V>
struct Moments {
  V of[k_moments];

  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int n) { return of[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int n) const { return of[n]; }
};

// Lower bound of the energy density, so that F / E is defined without radiation.
inline constexpr double k_dark = 1e-200;

// Square of the reduced flux f = F / E.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V square_of_flux(const Moments<V>& w) {
  return w[k_flux_x] * w[k_flux_x] + w[k_flux_y] * w[k_flux_y] + w[k_flux_z] * w[k_flux_z];
}

// Scales reduced fluxes with |f| > 1 to |f| = 1, and returns f^2. Element 0 is unchanged.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V limit_reduced_flux(Moments<V>& w) {
  const V square = square_of_flux(w);
  if (!any(square > V(1.0))) return square;
  const V scale = V(1.0) / square_root(max(square, V(1.0)));
  for (int d = 0; d < 3; ++d) w[k_flux_x + d] = scale * w[k_flux_x + d];
  return min(square, V(1.0));
}

}  // namespace octant::radiation
