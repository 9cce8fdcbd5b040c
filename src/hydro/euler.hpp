// Point-wise physics of the compressible Euler equations, for packs of any SIMD width
// (core/simd.hpp).
//
// Choices are min, max or select instead of branches, so that a row of cells is vector arithmetic.
// Comments count the expensive operations, divisions and square roots.
#pragma once

#include <type_traits>

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro {

// Hydrodynamic variables of one pack of cells, conserved or primitive, in registers.
template <class V>
struct State {
  V value[k_hydro_variables];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int n) { return value[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int n) const { return value[n]; }
};

// Three Cartesian components of a vector, each for one pack of cells.
template <class V>
struct Vector {
  V value[3];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int axis) { return value[axis]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int axis) const { return value[axis]; }
};

// Loads a state from memory; variable n lies n * stride after variable 0.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION State<V> load_state(const double* from, int stride) {
  State<V> w;
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) w[n] = SimdTraits<V>::load(from + n * stride);
  return w;
}
// Stores a state in memory; variable n is written n * stride after variable 0.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION void store_state(double* to, int stride, const State<V>& w) {
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) SimdTraits<V>::store(to + n * stride, w[n]);
}

// Twice the kinetic energy density, from momentum and velocity.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V momentum_dot_velocity(const State<V>& u, const State<V>& w) {
  return u[k_momentum_x] * w[k_velocity_x] + u[k_momentum_y] * w[k_velocity_y] +
         u[k_momentum_z] * w[k_velocity_z];
}

// The type G of the gas is IdealGas, ColdGas (with a cold curve) or Gas (any equation of state). A
// cold curve divides the pressure into a cold and a thermal part (eos/cold_curve.hpp); without one
// the thermal pressure is the pressure.

// Primitive variables from conserved ones, with the thermal pressure, which is not floored. Sets
// `inverse` to the specific volume (one division) and `cold` to the cold part of the gas.
template <class V, class G, class Cold>
KOKKOS_FORCEINLINE_FUNCTION State<V> unfloored_primitive(const State<V>& u, const G& gas,
                                                         V& inverse, Cold& cold) {
  State<V> w;
  w[k_density] = max(u[k_mass], V(gas.density_floor));
  inverse = V(1.0) / w[k_density];
  w[k_velocity_x] = u[k_momentum_x] * inverse;
  w[k_velocity_y] = u[k_momentum_y] * inverse;
  w[k_velocity_z] = u[k_momentum_z] * inverse;
  set_cold_state(cold, w[k_density], gas);
  w[k_pressure] =
      V(gas.gamma - 1.0) * cold.thermal_energy(u[k_energy] - V(0.5) * momentum_dot_velocity(u, w));
  return w;
}
// Primitive variables from conserved ones, with the thermal pressure, which is not floored.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION State<V> unfloored_primitive(const State<V>& u, const G& gas,
                                                         V& inverse) {
  decltype(cold_state(inverse, gas)) cold;
  return unfloored_primitive(u, gas, inverse, cold);
}

// Returns true if dual energy uses the entropy: the thermal fraction of the total energy is too
// small. `pressure` is the thermal pressure.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto entropy_rules(const V& pressure, const V& energy, const Gas& gas) {
  return pressure < V((gas.gamma - 1.0) * gas.dual_energy_threshold) * energy;
}

// Dual-energy thermal pressure: from the entropy density rho (p / rho^gamma) where the thermal
// energy is less than the threshold fraction of the total energy, otherwise `pressure`. One power
// if needed.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V dual_pressure(const V& pressure, const State<V>& u, const V& density,
                                            const V& entropy, const Gas& gas) {
  const auto cold = entropy_rules(pressure, u[k_energy], gas);
  if (!any(cold)) return pressure;
  return select(cold, entropy * power(density, gas.gamma - 1.0), pressure);
}

// Primitive variables from conserved ones load(n), with the total pressure and floors. Sets
// `volume` to the specific volume (a scalar's concentration is load(n) * volume), and `energy` if
// the gas is real.
template <class V, class Load, class G>
KOKKOS_FORCEINLINE_FUNCTION State<V> to_primitive(const Load& load, const G& gas, V& volume,
                                                  EnergyExpansion<V>& energy) {
  State<V> u;
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) u[n] = load(n);
  decltype(cold_state(volume, gas)) cold;
  State<V> w = unfloored_primitive(u, gas, volume, cold);
  if (gas.dual_energy)
    w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], V(load(k_entropy)), gas);
  w[k_pressure] = max(w[k_pressure], V(gas.pressure_floor));
  if constexpr (std::is_same_v<G, Gas>) {
    if (gas.real.exists()) {
      cold.expand(w[k_pressure], V(1.0 / (gas.gamma - 1.0)), energy);
      w[k_pressure] = energy[k_mean_pressure];
      return w;
    }
  }
  w[k_pressure] = cold.total_pressure(w[k_pressure]);
  return w;
}

// Primitive variables from conserved ones load(n), with the total pressure and floors. Sets
// `volume` to the specific volume.
template <class V, class Load, class G>
KOKKOS_FORCEINLINE_FUNCTION State<V> to_primitive(const Load& load, const G& gas, V& volume) {
  EnergyExpansion<V> energy = {};
  return to_primitive(load, gas, volume, energy);
}

// All primitive variables, followed by concentrations and, in real gas, by the expansion of the
// energy. load(n) returns conserved variable n, store(n, value) stores a primitive one.
template <class V, class Load, class Store, class G>
KOKKOS_FORCEINLINE_FUNCTION void to_all_primitives(const Load& load, const Store& store,
                                                   const G& gas, int variables) {
  V volume;
  EnergyExpansion<V> energy = {};
  const State<V> w = to_primitive(load, gas, volume, energy);
  OCTANT_UNROLL(8)
  for (int n = 0; n < k_hydro_variables; ++n) store(n, w[n]);
  for (int n = k_hydro_variables; n < variables; ++n) store(n, load(n) * volume);
  if constexpr (std::is_same_v<G, Gas>) {
    OCTANT_UNROLL(8)
    for (int n = 0; n < k_cell_energies; ++n) store(variables + n, energy[n]);
  }
}

// Primitive variables with the thermal pressure, which is not floored. `entropy` is unused without
// dual energy. Sets `cold` to the cold part of the gas.
template <class V, class G, class Cold>
KOKKOS_FORCEINLINE_FUNCTION State<V> physical_state(const State<V>& u, const V& entropy,
                                                    const G& gas, Cold& cold) {
  V volume;
  State<V> w = unfloored_primitive(u, gas, volume, cold);
  if (gas.dual_energy) w[k_pressure] = dual_pressure(w[k_pressure], u, w[k_density], entropy, gas);
  return w;
}
// Primitive variables with the thermal pressure, which is not floored.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION State<V> physical_state(const State<V>& u, const V& entropy,
                                                    const G& gas) {
  decltype(cold_state(entropy, gas)) cold;
  return physical_state(u, entropy, gas, cold);
}

// Returns true if the kinetic energy is at least twice the total energy, which truncation errors
// cannot explain: dual energy must not accept such a state.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto lacks_energy(const State<V>& u, const State<V>& w) {
  return !(momentum_dot_velocity(u, w) < V(4.0) * u[k_energy]);
}

// Returns true if a state needs repair. `u` is conserved, `w` is the result of physical_state(). An
// entropy that is not positive is unphysical even where it does not determine the pressure.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto is_unphysical(const State<V>& u, const State<V>& w,
                                               const V& entropy, const Gas& gas) {
  const auto bad =
      !(u[k_mass] >= V(gas.density_floor)) || !(w[k_pressure] >= V(gas.pressure_floor));
  if (!gas.dual_energy) return bad;
  return bad || lacks_energy(u, w) || !(entropy > V(0.0));
}

// Signal speed |v_x| + |v_y| + |v_z| + 3 c: the time step is cfl dx over its maximum. `w` has the
// thermal pressure. One division, one root.
template <class V, class Cold>
KOKKOS_FORCEINLINE_FUNCTION V signal_speed(const State<V>& w, const Cold& cold, const Gas& gas) {
  const V sound = square_root(cold.adiabatic_modulus(w[k_pressure], gas.gamma) / w[k_density]);
  return (absolute(w[k_velocity_x]) + absolute(w[k_velocity_y])) + absolute(w[k_velocity_z]) +
         V(3.0) * sound;
}
// Signal speed of gas whose cold part is not known.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION V signal_speed(const State<V>& w, const G& gas) {
  return signal_speed(w, cold_state(w[k_density], gas), gas);
}

}  // namespace octant::hydro
