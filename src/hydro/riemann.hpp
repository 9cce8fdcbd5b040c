// Fluxes through a face between two constant states, for packs of any SIMD width. `left` and
// `right` are primitive states with positive density and pressure; Axis is the normal of the face.
// `name` is the solver's name in hydro.riemann. A solver with `senses_shocks = true` also takes the
// strength of the shocks along the other two axes, from 0 to 1. Passive scalars are advected with
// the mass flux: see scalar_flux.
#pragma once

#include "core/compiler.hpp"
#include "hydro/euler.hpp"

namespace octant::hydro {

// True if a Riemann solver needs the shock sensor.
template <class Solver>
inline constexpr bool k_senses_shocks = requires {
  requires Solver::senses_shocks;
};

// Indices of the velocity components normal and tangential to a face.
template <int Axis>
struct FaceAxes {
  static constexpr int normal = k_velocity_x + Axis;
  static constexpr int tangent_1 = k_velocity_x + (Axis + 1) % 3;
  static constexpr int tangent_2 = k_velocity_x + (Axis + 2) % 3;
};

// Flux of a scalar: the mass flux times the concentration on the upwind side.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V scalar_flux(const V& mass, const V& left, const V& right) {
  return mass * select(mass > V(0.0), left, right);
}

// Cold parts of the gas on both sides of a face.
template <class V, class G>
struct ColdSides {
  decltype(cold_state(V(), *static_cast<const G*>(nullptr))) left, right;

  KOKKOS_FORCEINLINE_FUNCTION ColdSides(const State<V>& l, const State<V>& r, const G& gas)
      : left(cold_state(l[k_density], gas)), right(cold_state(r[k_density], gas)) {}
};

// Real gas on both sides of a face.
template <class V>
struct ColdSides<V, GasAtFace<V>> {
  const FaceGas<V>&left, &right;

  KOKKOS_FORCEINLINE_FUNCTION ColdSides(const State<V>& /*l*/, const State<V>& /*r*/,
                                        const GasAtFace<V>& gas)
      : left(gas.left), right(gas.right) {}
};

// Larger sound speed of both sides: c^2 = gamma max(p_L rho_R, p_R rho_L) / (rho_L rho_R) in an
// ideal gas. One division, one root.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V larger_sound_speed(const State<V>& left, const State<V>& right,
                                                 const ColdSides<V, IdealGas>& /*cold*/,
                                                 const IdealGas& gas) {
  const V rho_l = left[k_density], rho_r = right[k_density];
  const V p_l = left[k_pressure], p_r = right[k_pressure];
  return square_root(V(gas.gamma) * max(p_l * rho_r, p_r * rho_l) / (rho_l * rho_r));
}
// Larger sound speed of both sides with a cold curve. States at faces, whose density and pressure
// are reconstructed independently, may have slightly negative thermal pressures: these pressures
// are kept, to avoid a bias, but do not reduce the sound speed.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION V larger_sound_speed(const State<V>& left, const State<V>& right,
                                                 const ColdSides<V, G>& cold, const G& gas) {
  const V rho_l = left[k_density], rho_r = right[k_density];
  const auto modulus = [&](const State<V>& w, const auto& at) OCTANT_INLINE_LAMBDA {
    return at.modulus_above(w[k_pressure], gas.pressure_floor, gas.gamma);
  };
  return square_root(max(modulus(left, cold.left) * rho_r, modulus(right, cold.right) * rho_l) /
                     (rho_l * rho_r));
}
// Larger sound speed of both sides in real gas, from rho c^2 / p of the cells.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V larger_sound_speed(const State<V>& left, const State<V>& right,
                                                 const ColdSides<V, GasAtFace<V>>& /*cold*/,
                                                 const GasAtFace<V>& gas) {
  const V rho_l = left[k_density], rho_r = right[k_density];
  const V modulus_l = gas.left.exponent * left[k_pressure];
  const V modulus_r = gas.right.exponent * right[k_pressure];
  return square_root(max(modulus_l * rho_r, modulus_r * rho_l) / (rho_l * rho_r));
}

// Conserved variables of a primitive state and its flux through the face.
template <int Axis, class V>
struct PhysicalFlux {
  using Axes = FaceAxes<Axis>;
  State<V> u, flux;

  // Constructor for an ideal gas.
  KOKKOS_FORCEINLINE_FUNCTION PhysicalFlux(const State<V>& w, const Gas& gas)
      : PhysicalFlux(w, NoColdState<V>(), gas) {}
  template <class Cold, class G>
  KOKKOS_FORCEINLINE_FUNCTION PhysicalFlux(const State<V>& w, const Cold& cold, const G& gas) {
    const V normal = w[Axes::normal];
    const V t_1 = w[Axes::tangent_1], t_2 = w[Axes::tangent_2];
    u[k_mass] = w[k_density];
    OCTANT_UNROLL(8)
    for (int n = k_velocity_x; n <= k_velocity_z; ++n) u[n] = w[k_density] * w[n];
    u[k_energy] = cold.internal_energy(w[k_pressure], V(1.0 / (gas.gamma - 1.0))) +
                  V(0.5) * w[k_density] * (normal * normal + t_1 * t_1 + t_2 * t_2);
    const V mass = w[k_density] * normal;
    flux[k_mass] = mass;
    flux[Axes::normal] = mass * normal + w[k_pressure];
    flux[Axes::tangent_1] = mass * t_1;
    flux[Axes::tangent_2] = mass * t_2;
    flux[k_energy] = (u[k_energy] + w[k_pressure]) * normal;
  }
};

// Local Lax-Friedrichs (Rusanov): the mean flux minus half the largest signal speed times the jump.
struct Llf {
  static constexpr const char* name = "llf";

  // Flux through a face, from the primitive states on both sides.
  template <int Axis, class V, class G>
  KOKKOS_FORCEINLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                                   const G& gas) {
    constexpr int normal = FaceAxes<Axis>::normal;
    const ColdSides<V, G> cold(left, right, gas);
    const PhysicalFlux<Axis, V> l(left, cold.left, gas), r(right, cold.right, gas);
    const V fastest = max(absolute(left[normal]), absolute(right[normal])) +
                      larger_sound_speed(left, right, cold, gas);
    State<V> flux;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n)
      flux[n] = V(0.5) * ((l.flux[n] + r.flux[n]) - fastest * (r.u[n] - l.u[n]));
    return flux;
  }
};

// Harten, Lax & van Leer with S_L = min(u_L, u_R) - c and S_R = max(u_L, u_R) + c, the bounds of
// HLLC below, clipped so that the fan always contains the face. Two divisions, one root.
struct Hll {
  static constexpr const char* name = "hll";

  // Flux through a face, from the primitive states on both sides.
  template <int Axis, class V, class G>
  KOKKOS_FORCEINLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                                   const G& gas) {
    constexpr int normal = FaceAxes<Axis>::normal;
    const ColdSides<V, G> cold(left, right, gas);
    const PhysicalFlux<Axis, V> l(left, cold.left, gas), r(right, cold.right, gas);
    const V sound = larger_sound_speed(left, right, cold, gas);
    const V speed_l = min(min(left[normal], right[normal]) - sound, V(0.0));
    const V speed_r = max(max(left[normal], right[normal]) + sound, V(0.0));
    const V inverse = V(1.0) / (speed_r - speed_l);
    const V product = speed_l * speed_r;
    State<V> flux;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n)
      flux[n] =
          ((speed_r * l.flux[n] - speed_l * r.flux[n]) + product * (r.u[n] - l.u[n])) * inverse;
    return flux;
  }
};

// Factor phi of HllcLowMach for the velocity difference. One division, one root.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V low_mach_factor(const State<V>& left, const State<V>& right,
                                              const V& sound) {
  const auto square = [](const State<V>& w) {
    return w[k_velocity_x] * w[k_velocity_x] + w[k_velocity_y] * w[k_velocity_y] +
           w[k_velocity_z] * w[k_velocity_z];
  };
  const V chi = min(square_root(max(square(left), square(right))) / sound, V(1.0));
  return chi * (V(2.0) - chi);
}

// Cold part of the side that a mask selects, without the bulk modulus.
template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION NoColdState<V> upwind_cold(const Mask& /*from_left*/,
                                                       const ColdSides<V, IdealGas>& /*cold*/) {
  return {};
}
template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION ColdState<V> upwind_cold(const Mask& from_left,
                                                     const ColdSides<V, ColdGas>& cold) {
  return {select(from_left, cold.left.pressure, cold.right.pressure),
          select(from_left, cold.left.energy, cold.right.energy), V(0.0)};
}
template <class Mask, class V>
KOKKOS_FORCEINLINE_FUNCTION FaceGas<V> upwind_cold(const Mask& from_left,
                                                   const ColdSides<V, GasAtFace<V>>& cold) {
  const FaceGas<V>&l = cold.left, &r = cold.right;
  return {select(from_left, l.exponent, r.exponent),
          select(from_left, l.ratio, r.ratio),
          select(from_left, l.by_density, r.by_density),
          select(from_left, l.by_pressure, r.by_pressure),
          select(from_left, l.cell_density, r.cell_density),
          select(from_left, l.cell_pressure, r.cell_pressure),
          select(from_left, l.density, r.density),
          l.real};
}

// HLLC (Toro 2009, sec. 10.4-10.6) with the signal speeds
//   S_L = min(u_L, u_R) - c,  S_R = max(u_L, u_R) + c,  c = max(c_L, c_R).
// With m_L = rho_L (u_L - S_L) and m_R = rho_R (S_R - u_R), both positive,
//   u* = (m_L u_L + m_R u_R + p_L - p_R) / (m_L + m_R)
//   p* = (m_R p_L + m_L p_R + m_L m_R (u_L - u_R)) / (m_L + m_R).
// Only the upwind side K of u* is computed; the star state replaces it if the face lies between S_K
// and u*:  rho*_K = rho_K (S_K - u_K) / (S_K - u*),
//   E*_K = ((S_K - u_K) E_K - p_K u_K + p* u*) / (S_K - u*).
// The flux is the physical flux of the state at x/t = 0. Three divisions, one root.
//
// With LowMach the velocity difference in p* is multiplied by phi: see HllcLowMach.
template <int Axis, bool LowMach, class V, class G>
KOKKOS_FORCEINLINE_FUNCTION State<V> hllc_flux(const State<V>& left, const State<V>& right,
                                               const G& gas) {
  using Axes = FaceAxes<Axis>;
  const V rho_l = left[k_density], rho_r = right[k_density];
  const V u_l = left[Axes::normal], u_r = right[Axes::normal];
  const V p_l = left[k_pressure], p_r = right[k_pressure];

  const ColdSides<V, G> cold(left, right, gas);
  const V sound = larger_sound_speed(left, right, cold, gas);
  const V speed_l = min(u_l, u_r) - sound, speed_r = max(u_l, u_r) + sound;
  const V m_l = rho_l * (u_l - speed_l), m_r = rho_r * (speed_r - u_r);
  const V inverse = V(1.0) / (m_l + m_r);
  const V u_star = ((m_l * u_l + m_r * u_r) + (p_l - p_r)) * inverse;
  V jump = u_l - u_r;
  if constexpr (LowMach) jump = low_mach_factor(left, right, sound) * jump;
  const V p_star =
      max(((m_r * p_l + m_l * p_r) + m_l * m_r * jump) * inverse, V(gas.lowest_pressure()));

  const auto from_left = u_star > V(0.0);
  const V rho = select(from_left, rho_l, rho_r);
  const V u = select(from_left, u_l, u_r);
  const V p = select(from_left, p_l, p_r);
  const V speed = select(from_left, speed_l, speed_r);
  const V t_1 = select(from_left, left[Axes::tangent_1], right[Axes::tangent_1]);
  const V t_2 = select(from_left, left[Axes::tangent_2], right[Axes::tangent_2]);
  const auto upwind = upwind_cold(from_left, cold);
  const V energy = upwind.internal_energy(p, V(1.0 / (gas.gamma - 1.0))) +
                   V(0.5) * rho * (u * u + t_1 * t_1 + t_2 * t_2);

  // The face lies inside the star region if S_K moves away from the contact.
  const auto in_star = select(from_left, -speed, speed) > V(0.0);
  const V stretch = V(1.0) / (speed - u_star);
  const V rho_0 = select(in_star, rho * (speed - u) * stretch, rho);
  const V u_0 = select(in_star, u_star, u);
  const V p_0 = select(in_star, p_star, p);
  const V energy_0 =
      select(in_star, ((speed - u) * energy + (p_star * u_star - p * u)) * stretch, energy);

  State<V> flux;
  const V mass = rho_0 * u_0;
  flux[k_mass] = mass;
  flux[Axes::normal] = mass * u_0 + p_0;
  flux[Axes::tangent_1] = mass * t_1;
  flux[Axes::tangent_2] = mass * t_2;
  flux[k_energy] = (energy_0 + p_0) * u_0;
  return flux;
}

// HLLC (hydro.riemann = "hllc").
struct Hllc {
  static constexpr const char* name = "hllc";

  // Flux through a face, from the primitive states on both sides.
  template <int Axis, class V, class G>
  KOKKOS_FORCEINLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                                   const G& gas) {
    return hllc_flux<Axis, false>(left, right, gas);
  }
};

// HLLC, blended with HLL at faces whose normal is perpendicular to that of a strong shock:
//   F = F_HLLC + s (F_HLL - F_HLLC),
// where s, from 0 to 1, is the strength of shocks along the other two axes in the two cells of the
// face (shock_sensor.hpp). At such faces HLLC hardly dissipates contact and shear waves, so that
// perturbations along the shock front grow: the carbuncle instability (Quirk 1994). For s = 0 the
// flux is bitwise that of HLLC.
template <bool LowMach>
struct HllcWithSensor {
  static constexpr bool senses_shocks = true;

  // Flux through a face, from the primitive states on both sides; `shock` is s, from 0 to 1.
  template <int Axis, class V, class G>
  KOKKOS_FORCEINLINE_FUNCTION static State<V> flux(const State<V>& left, const State<V>& right,
                                                   const V& shock, const G& gas) {
    // Tested before the flux of HLLC, which then needs no registers for both states.
    if (any(shock > V(0.0))) return blended<Axis>(left, right, shock, passed(gas));
    return hllc_flux<Axis, LowMach>(left, right, gas);
  }

 private:
  // Gas as an argument of blended(). Real gas at a face is copied, so that it stays in registers in
  // the flux of HLLC.
  template <class G>
  KOKKOS_FORCEINLINE_FUNCTION static const G& passed(const G& gas) {
    return gas;
  }
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION static GasAtFace<V> passed(const GasAtFace<V>& gas) {
    return gas;
  }

  // Blended flux; not inlined, because few faces need it.
  template <int Axis, class V, class G>
  OCTANT_OUT_OF_LINE static State<V> blended(const State<V>& left, const State<V>& right,
                                             const V shock, const G& gas) {
    const State<V> sharp = hllc_flux<Axis, LowMach>(left, right, gas);
    const State<V> diffusive = Hll::flux<Axis>(left, right, gas);
    State<V> flux;
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_hydro_variables; ++n)
      flux[n] = select(shock > V(0.0), sharp[n] + shock * (diffusive[n] - sharp[n]), V(sharp[n]));
    return flux;
  }
};

// HLLC with shock sensor (hydro.riemann = "hllc_hybrid").
struct HllcHybrid : HllcWithSensor<false> {
  static constexpr const char* name = "hllc_hybrid";
};

// HLLC with sensor for flows at low Mach number: the velocity difference in p* is multiplied by phi
// = chi (2 - chi), chi = min(1, max(|v_L|, |v_R|) / c) (Minoshima & Miyoshi 2021, J. Comput. Phys.
// 446, 110639), so that the dissipation of kinetic energy does not grow as 1 / Mach.
struct HllcLowMach : HllcWithSensor<true> {
  static constexpr const char* name = "hllc_low_mach";
};

}  // namespace octant::hydro
