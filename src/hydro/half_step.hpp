// Hancock's half step in time, by the primitive equations.
//
// It takes the difference across a cell for the slope in all of it, but a parabola ends at faces
// with slopes that differ from that by its bend: the half step there is that of those slopes
// (tilt). Without it a strong rarefaction, where the slope changes much within a cell, errs by
// twice as much as with linear profiles.
#pragma once

#include "core/unroll.hpp"
#include "hydro/euler.hpp"
#include "hydro/reconstruction.hpp"

namespace octant::hydro {

// The change in half a step by the primitive equations (Hancock's predictor), with the differences
// along each axis across the part `span` of the cell (reconstruction.hpp) and h = dt / (2 span dx):
//   rho: -h (v . d rho + rho div v),  v: -h (v . d v + d p / rho),  p: -h (v . d p + gamma p div v)
// Scalars move with `advance` alone. One division.
template <class V>
struct HalfStep {
  V vx, vy, vz;  // h v

  KOKKOS_FORCEINLINE_FUNCTION HalfStep(const State<V>& w, double h)
      : vx(V(h) * w[k_velocity_x]), vy(V(h) * w[k_velocity_y]), vz(V(h) * w[k_velocity_z]) {}

  KOKKOS_FORCEINLINE_FUNCTION V advance(const V& q, const V& dx, const V& dy, const V& dz) const {
    return q - (vx * dx + vy * dy + vz * dz);
  }

  KOKKOS_FORCEINLINE_FUNCTION State<V> operator()(const State<V>& w, const State<V>& dx,
                                                  const State<V>& dy, const State<V>& dz, double h,
                                                  const Gas& gas) const {
    const V divergence = V(h) * (dx[k_velocity_x] + dy[k_velocity_y] + dz[k_velocity_z]);
    State<V> half;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n) half[n] = advance(w[n], dx[n], dy[n], dz[n]);
    const V h_over_density = V(h) / w[k_density];
    half[k_density] = half[k_density] - w[k_density] * divergence;
    half[k_velocity_x] = half[k_velocity_x] - h_over_density * dx[k_pressure];
    half[k_velocity_y] = half[k_velocity_y] - h_over_density * dy[k_pressure];
    half[k_velocity_z] = half[k_velocity_z] - h_over_density * dz[k_pressure];
    half[k_pressure] = half[k_pressure] - V(gas.gamma) * w[k_pressure] * divergence;
    return half;
  }
};

// A profile of what moves with the gas: `v` is h = dt / (2 dx) times the velocity along its axis,
// because the span of curved profiles is 1.
// What is inside the cell comes to one of the faces alone.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void tilt_scalar(const V& v, ParabolicProfile<V>& profile) {
  const V bend = profile.bend();
  profile.tilt(min(v, V(0.0)) * bend, max(v, V(0.0)) * bend);
}

// The profiles of the primitive variables along an axis, in a cell of the state w. A change of more
// than a tenth in density or pressure is that of a jump, not of a curved profile, and is left out.
template <int Axis, class V>
KOKKOS_FORCEINLINE_FUNCTION void tilt(const State<V>& w, const V& v, double h, const Gas& gas,
                                      ParabolicProfile<V> (&profile)[k_hydro_variables]) {
  constexpr int k_along = k_velocity_x + Axis;
  const V stretch = V(h) * profile[k_along].bend();
  State<V> sound;  // what does not move with the gas
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) sound[n] = V(0.0);
  sound[k_density] = w[k_density] * stretch;
  sound[k_along] = V(h) / w[k_density] * profile[k_pressure].bend();
  sound[k_pressure] = V(gas.gamma) * w[k_pressure] * stretch;
  const auto is_small = [&](int n) OCTANT_INLINE_LAMBDA {
    return absolute(sound[n]) + absolute(v * profile[n].bend()) < V(0.1) * w[n];
  };
  const auto small = is_small(k_density) && is_small(k_pressure);
  const V forwards = select(small, max(v, V(0.0)), V(0.0));
  const V backwards = select(small, min(v, V(0.0)), V(0.0));
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) {
    const V bend = profile[n].bend(), heard = select(small, sound[n], V(0.0));
    profile[n].tilt(backwards * bend + heard, forwards * bend + heard);
  }
}

}  // namespace octant::hydro
