// Slopes and states of the moments at faces, and their Riemann solver, in the units of
// radiation/closure.hpp.
#pragma once

#include "core/wide_simd.hpp"
#include "radiation/closure.hpp"

namespace octant::radiation {

// State (E, f) at a face, and f^2 <= 1.
template <class V>
struct FaceState {
  Moments<V> of;
  V square;
};

// Half of the limited slope of the monotonised central difference (van Leer 1977). If the
// differences to both neighbours differ in sign, both bounds vanish.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V half_limited_slope(const V& below, const V& here, const V& above) {
  const V left = here - below, right = above - here;
  const V low = min(max(left, right), V(0.0)), high = max(min(left, right), V(0.0));
  return max(min(V(0.25) * (left + right), high), low);
}

// Physical flux along an axis, and the slowest and fastest wave along it, as numerators of
// quotients: the energy flux, F / c, has no denominator, momentum fluxes have (2 + g) / 3, and
// speeds have g (2 + g). Quotients of two states then need one division.
template <class V>
struct Stream {
  V flux[3];      // of momentum
  V momentum[3];  // F / c
  V slowest, fastest;
  V g, denominator, speed_denominator;  // g, 2 + g, g (2 + g)
};

// Flux of a state (E, f), |f| <= 1. The wave speeds are the eigenvalues of the Jacobian (Gonzalez,
// Audit & Huynh 2007; Skinner & Ostriker 2013, eq. 41), rewritten without divisions by f:
//   lambda = (f_n -+ sqrt((g - 1) (2 g / 3 - 2 f_n^2 / (2 + g)))) / g
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Stream<V> stream_along(int axis, const FaceState<V>& state) {
  const Moments<V>& w = state.of;
  const V energy = w[k_energy_density], along = w[k_flux_x + axis];
  const V g_squared = fused_multiply_add(V(-3.0), state.square, V(4.0));
  Stream<V> s;
  s.g = square_root(g_squared);
  s.denominator = V(2.0) + s.g;
  s.speed_denominator = g_squared + (s.g + s.g);
  const V isotropic = (g_squared - V(2.0)) + s.g;  // (g - 1) (g + 2)
  for (int d = 0; d < 3; ++d) s.momentum[d] = energy * w[k_flux_x + d];
  // P = E ((1 - chi) / 2 + (3 chi - 1) / (2 f^2) f f), with (1 - chi) / 2 = (g - 1) / 3 and
  // (3 chi - 1) / (2 f^2) = 3 / (2 + g)
  for (int d = 0; d < 3; ++d) s.flux[d] = along * s.momentum[d];
  s.flux[axis] = fused_multiply_add(along, s.momentum[axis], V(1.0 / 9.0) * isotropic * energy);
  const V square = fused_multiply_add(V(-3.0) * along, along, s.speed_denominator);
  const V spread = square_root(max(V(2.0 / 3.0) * isotropic * square, V(0.0)));
  const V middle = along * s.denominator;
  s.slowest = middle - spread;
  s.fastest = middle + spread;
  return s;
}

// Flux through a face between two states, by the solver of Harten, Lax & van Leer (1983).
// `depth` is the optical depth of a cell, the smaller one of both. Where both cells are optically
// thick, the dissipation of the energy is reduced by the depth (Skinner et al. 2019; He, Wibking &
// Krumholz 2024), because it would exceed the physical diffusion, c / (3 kappa rho). A beam that
// meets an opaque cell needs all of it: otherwise the beam is reflected.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION Moments<V> flux_between(int axis, const FaceState<V>& left,
                                                    const FaceState<V>& right, const V& depth) {
  const Stream<V> l = stream_along(axis, left), r = stream_along(axis, right);
  // Speeds times `common`, the product of their denominators.
  const V common = l.speed_denominator * r.speed_denominator;
  const V up = max(max(l.fastest * r.speed_denominator, r.fastest * l.speed_denominator), V(0.0));
  const V down = min(min(l.slowest * r.speed_denominator, r.slowest * l.speed_denominator), V(0.0));
  // One division for all quotients. `thin` is 1 / (common (up - down)) over the thickness.
  const V thickness = max(depth, V(1.0));
  const V thin = V(1.0) / (max(up - down, V(1e-30)) * (common * thickness));
  const V thick = thin * thickness, mixing = up * down, mixed = mixing * thick;
  Moments<V> flux;
  flux[k_energy_density] =
      fused_multiply_add(mixing * thin, right.of[k_energy_density] - left.of[k_energy_density],
                         (up * l.momentum[axis] - down * r.momentum[axis]) * (thick * common));
  const V from_left = up * r.denominator, from_right = down * l.denominator;
  const V share = V(3.0) * thick * (l.g * r.g);
  for (int d = 0; d < 3; ++d)
    flux[k_flux_x + d] =
        fused_multiply_add(mixed, r.momentum[d] - l.momentum[d],
                           (from_left * l.flux[d] - from_right * r.flux[d]) * share);
  return flux;
}

}  // namespace octant::radiation
