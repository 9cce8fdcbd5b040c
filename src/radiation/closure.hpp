// M1 closure of the moments of the radiation field, after Levermore (1984): fluxes through faces
// and their Riemann solver. Energy fluxes F are divided by c, so that all moments are energy
// densities; fluxes are in units of the (reduced) speed of light.
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

// Scales reduced fluxes with |f| > 1 to |f| = 1. Element 0 is unchanged.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void limit_reduced_flux(Moments<V>& w) {
  const V square = square_of_flux(w);
  if (!any(square > V(1.0))) return;
  const V scale = V(1.0) / square_root(max(square, V(1.0)));
  for (int d = 0; d < 3; ++d) w[k_flux_x + d] = scale * w[k_flux_x + d];
}

// Physical flux along an axis, and the slowest and fastest wave along it.
template <class V>
struct Stream {
  Moments<V> flux;
  V slowest, fastest;
};

// Flux of a state (E, f), |f| <= 1. The wave speeds are the eigenvalues of the Jacobian (Gonzalez,
// Audit & Huynh 2007; Skinner & Ostriker 2013, eq. 41), rewritten without divisions by f:
//   lambda = (f_n -+ sqrt((g - 1) (2 g / 3 - 2 f_n^2 / (2 + g)))) / g
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Stream<V> stream_along(int axis, const Moments<V>& w) {
  const V energy = w[k_energy_density], along = w[k_flux_x + axis];
  const V square = min(square_of_flux(w), V(1.0));
  const V g = square_root(V(4.0) - V(3.0) * square);
  const V two = V(2.0) + g, inverse = V(1.0) / (two * g);
  const V twin = inverse * g, slowness = inverse * two;  // 1 / (2 + g) and 1 / g
  const V isotropic = V(1.0 / 3.0) * (g - V(1.0));       // (1 - chi) / 2
  const V beamed = V(3.0) * twin;                        // (3 chi - 1) / (2 f^2)
  Stream<V> s;
  s.flux[k_energy_density] = energy * along;
  for (int d = 0; d < 3; ++d) {
    const V pressure = beamed * w[k_flux_x + d] * along;
    s.flux[k_flux_x + d] = energy * (d == axis ? isotropic + pressure : pressure);
  }
  const V spread =
      square_root(max((g - V(1.0)) * (V(2.0 / 3.0) * g - V(2.0) * along * along * twin), V(0.0)));
  s.slowest = (along - spread) * slowness;
  s.fastest = (along + spread) * slowness;
  return s;
}

// Flux through a face between two states (E, f), by the solver of Harten, Lax & van Leer (1983).
// `depth` is the optical depth of a cell, the smaller one of both. Where both cells are optically
// thick, the dissipation of the energy is reduced by the depth (Skinner et al. 2019; He, Wibking &
// Krumholz 2024), because it would exceed the physical diffusion, c / (3 kappa rho). A beam that
// meets an opaque cell needs all of it: otherwise the beam is reflected.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Moments<V> flux_between(int axis, const Moments<V>& left,
                                                    const Moments<V>& right, const V& depth) {
  const Stream<V> l = stream_along(axis, left), r = stream_along(axis, right);
  const V up = max(max(l.fastest, r.fastest), V(0.0));
  const V down = min(min(l.slowest, r.slowest), V(0.0));
  // One division for 1 / (up - down) and for that times 1 / thickness.
  const V thickness = max(depth, V(1.0));
  const V thin = V(1.0) / (max(up - down, V(1e-30)) * thickness), share = thin * thickness;
  const V mixing = up * down;
  Moments<V> flux;
  for (int n = 0; n < k_moments; ++n) {
    const V steady = (up * l.flux[n] - down * r.flux[n]) * share;
    if (n == k_energy_density) {
      flux[n] = steady + mixing * thin * (right[n] - left[n]);
    } else {
      const V jump = right[k_energy_density] * right[n] - left[k_energy_density] * left[n];
      flux[n] = steady + mixing * share * jump;
    }
  }
  return flux;
}

}  // namespace octant::radiation
