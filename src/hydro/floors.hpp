// How one cell that has lost its pressure gets some again.
#pragma once

#include "hydro/euler.hpp"

namespace octant::hydro {

// Whether one stored cell needs repair.
KOKKOS_INLINE_FUNCTION bool is_unphysical(const double* cell, int stride, const Gas& gas) {
  const State<double> u = load_state<double>(cell, stride);
  const double entropy = gas.dual_energy ? cell[k_entropy * stride] : 0.0;
  return is_unphysical(u, physical_state(u, entropy, gas), entropy, gas);
}

// The pressure of one cell by its total energy.
KOKKOS_INLINE_FUNCTION double pressure_of_energy(const State<double>& u, const Gas& gas) {
  double volume;
  return unfloored_primitive(u, gas, volume)[k_pressure];
}

// Whether the pressure of one cell is that of its entropy instead.
KOKKOS_INLINE_FUNCTION bool follows_entropy(const State<double>& u, const Gas& gas) {
  if (!gas.dual_energy) return false;
  double volume;
  const State<double> w = unfloored_primitive(u, gas, volume);
  return !lacks_energy(u, w) && entropy_rules(w[k_pressure], u[k_energy], gas);
}

// The total energy and the entropy density that raise the pressure of one cell, of any density, to
// `pressure`: a little more, so that rounding does not leave a cell below the floor.
template <class V>
KOKKOS_INLINE_FUNCTION V energy_at(const State<V>& u, V pressure, const Gas& gas) {
  V volume;
  const State<V> w = unfloored_primitive(u, gas, volume);
  return (pressure / V(gas.gamma - 1.0) + V(0.5) * momentum_dot_velocity(u, w)) * V(1.0 + 1e-14);
}
KOKKOS_INLINE_FUNCTION double entropy_at(double density, double pressure, const Gas& gas) {
  return pressure / power(density, gas.gamma - 1.0) * (1.0 + 1e-14);
}

// Slows the gas of one cell down, if need be, until its energy leaves it the floor's pressure.
KOKKOS_INLINE_FUNCTION void slow_down(State<double>& u, const Gas& gas) {
  double volume;
  const State<double> w = unfloored_primitive(u, gas, volume);
  const double kinetic = 0.5 * momentum_dot_velocity(u, w);
  const double most = max(u[k_energy] - gas.pressure_floor / (gas.gamma - 1.0), 0.0);
  if (!(kinetic > most)) return;
  const double factor = Kokkos::sqrt(most / kinetic);
  for (int n = k_momentum_x; n <= k_momentum_z; ++n) u[n] *= factor;
}

}  // namespace octant::hydro
