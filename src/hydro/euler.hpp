// Point-wise physics of the compressible Euler equations, written for any Pack (core/pack.hpp).
//
// No branches: every choice is a min, a max or a select, so that a row of cells is packed
// arithmetic. Divisions and square roots are counted in the comments: they are the costly ones.
#pragma once

#include "core/power.hpp"
#include "core/unroll.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro {

// The hydrodynamic variables of one pack of cells, conserved or primitive, in registers.
template <class V>
struct State {
  V value[k_hydro_variables];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int n) { return value[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int n) const { return value[n]; }
};

// Variable n lies n * stride after variable 0.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> load_state(const double* from, int stride) {
  State<V> w;
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) w[n] = PackTraits<V>::load(from + n * stride);
  return w;
}
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void store_state(double* to, int stride, const State<V>& w) {
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) PackTraits<V>::store(to + n * stride, w[n]);
}

// Twice the kinetic energy density, from momentum and velocity.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V momentum_dot_velocity(const State<V>& u, const State<V>& w) {
  return u[k_momentum_x] * w[k_velocity_x] + u[k_momentum_y] * w[k_velocity_y] +
         u[k_momentum_z] * w[k_velocity_z];
}

// Conserved to primitive, without a floor for the pressure. One division, returned as `inverse`,
// the specific volume.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> unfloored_primitive(const State<V>& u, const Gas& gas,
                                                         V& inverse) {
  State<V> w;
  w[k_density] = max(u[k_mass], V(gas.density_floor));
  inverse = V(1.0) / w[k_density];
  w[k_velocity_x] = u[k_momentum_x] * inverse;
  w[k_velocity_y] = u[k_momentum_y] * inverse;
  w[k_velocity_z] = u[k_momentum_z] * inverse;
  w[k_pressure] = V(gas.gamma - 1.0) * (u[k_energy] - V(0.5) * momentum_dot_velocity(u, w));
  return w;
}

// Whether so little of the total energy is internal that dual energy trusts the entropy instead.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto entropy_rules(const V& pressure, const V& energy, const Gas& gas) {
  return pressure < V((gas.gamma - 1.0) * gas.dual_energy_threshold) * energy;
}

// Pressure by dual energy: from the entropy density rho (p / rho^gamma) where less than the
// threshold of the total energy is internal, otherwise `pressure` as it is. One power where it is
// needed.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V dual_pressure(const V& pressure, const State<V>& u, const V& density,
                                            const V& entropy, const Gas& gas) {
  const auto cold = entropy_rules(pressure, u[k_energy], gas);
  if (!any(cold)) return pressure;
  return select(cold, entropy * power(density, gas.gamma - 1.0), pressure);
}

// Primitive variables from conserved ones load(n), with floors that keep them usable. `volume` is
// the specific volume: a scalar's concentration is load(n) * volume.
template <class V, class Load>
KOKKOS_FORCEINLINE_FUNCTION State<V> to_primitive(const Load& load, const Gas& gas, V& volume) {
  State<V> u;
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) u[n] = load(n);
  State<V> w = unfloored_primitive(u, gas, volume);
  if (gas.dual_energy)
    w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], V(load(k_entropy)), gas);
  w[k_pressure] = max(w[k_pressure], V(gas.pressure_floor));
  return w;
}

// All primitive variables: those behind the hydrodynamic ones are concentrations.
// load(n) is conserved variable n, store(n, value) keeps a primitive one.
template <class V, class Load, class Store>
KOKKOS_FORCEINLINE_FUNCTION void to_all_primitives(const Load& load, const Store& store,
                                                   const Gas& gas, int variables) {
  V volume;
  const State<V> w = to_primitive(load, gas, volume);
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) store(n, w[n]);
  for (int n = k_hydro_variables; n < variables; ++n) store(n, load(n) * volume);
}

// Primitive variables without a floor for the pressure. Without dual energy `entropy` is not read.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> physical_state(const State<V>& u, const V& entropy,
                                                    const Gas& gas) {
  V volume;
  State<V> w = unfloored_primitive(u, gas, volume);
  if (gas.dual_energy) w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], entropy, gas);
  return w;
}

// Whether so much of the total energy is missing beside the kinetic one that no rounding and no
// truncation explains it: a state that dual energy must not believe.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto lacks_energy(const State<V>& u, const State<V>& w) {
  return !(momentum_dot_velocity(u, w) < V(4.0) * u[k_energy]);
}

// Whether a state, conserved and as physical_state() gives it, needs repair. An entropy that is
// lost counts, too, though it may not rule as yet.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto is_unphysical(const State<V>& u, const State<V>& w,
                                               const V& entropy, const Gas& gas) {
  const auto bad =
      !(u[k_mass] >= V(gas.density_floor)) || !(w[k_pressure] >= V(gas.pressure_floor));
  if (!gas.dual_energy) return bad;
  return bad || lacks_energy(u, w) || !(entropy > V(0.0));
}

// |v_x| + |v_y| + |v_z| + 3 c: dt = cfl dx / max of it. One division, one root.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V signal_speed(const State<V>& w, const Gas& gas) {
  const V sound = square_root(V(gas.gamma) * w[k_pressure] / w[k_density]);
  return (absolute(w[k_velocity_x]) + absolute(w[k_velocity_y])) + absolute(w[k_velocity_z]) +
         V(3.0) * sound;
}

}  // namespace octant::hydro
