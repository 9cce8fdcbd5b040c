// Definitions of the functions that real_gas.hpp declares. Included after their declarations, by
// real_gas.cpp and, for GPUs, by real_gas.hpp.
#pragma once

#include "hydro/eos/eos_lookup.hpp"
#include "hydro/eos/radiation_functions.hpp"

namespace octant::hydro {

template <class V>
KOKKOS_FUNCTION void find_coldest_gas(V rho, const RealGas& gas, ColdestGas<V>& coldest) {
  coldest = TabulatedState<V>(gas.grid, rho).coldest();
}

template <class V>
KOKKOS_FUNCTION V real_pressure(V rho, V thermal, V coldest, const RealGas& gas) {
  if (gas.kind == RealGas::table) return coldest + TabulatedState<V>(gas.grid, rho).excess(thermal);
  return RadiatingState<V>(gas.with_radiation, rho).pressure(thermal);
}

template <class V>
KOKKOS_FUNCTION V real_thermal_pressure(V rho, V pressure, const RealGas& gas) {
  if (gas.kind == RealGas::radiation)
    return RadiatingState<V>(gas.with_radiation, rho).thermal(pressure);
  const TabulatedState<V> state(gas.grid, rho);
  return state.thermal(pressure - state.coldest().pressure);
}

template <class V>
KOKKOS_FUNCTION V real_energy(V rho, V pressure, V per_pressure, const RealGas& gas) {
  if (gas.kind == RealGas::radiation)
    return RadiatingState<V>(gas.with_radiation, rho).thermal(pressure) * per_pressure;
  const TabulatedState<V> state(gas.grid, rho);
  const ColdestGas<V> coldest = state.coldest();
  return state.thermal(pressure - coldest.pressure) * per_pressure + coldest.energy;
}

template <class V>
KOKKOS_FUNCTION V modulus_of_pressure(V rho, V pressure, const RealGas& gas) {
  if (gas.kind == RealGas::table)
    return TabulatedState<V>(gas.grid, rho).modulus_of_pressure(pressure);
  return RadiatingState<V>(gas.with_radiation, rho).modulus_of_pressure(pressure);
}

template <class V>
KOKKOS_FUNCTION V modulus_of_thermal(V rho, V thermal, const ColdestGas<V>& coldest,
                                     const RealGas& gas) {
  if (gas.kind == RealGas::table)
    return TabulatedState<V>(gas.grid, rho, coldest).modulus_of_thermal(thermal, coldest.modulus);
  return RadiatingState<V>(gas.with_radiation, rho).modulus_of_thermal(thermal);
}

// The derivatives at constant pressure and at constant density are related by rho c^2 = K:
//   rho de/drho = e + p - K de/dp.
template <class V>
KOKKOS_FUNCTION void expand_energy(V rho, V thermal, V per_pressure, const ColdestGas<V>& coldest,
                                   const RealGas& gas, EnergyExpansion<V>& energy) {
  V internal = thermal * per_pressure, volume;
  ThermalState<V> state;
  if (gas.kind == RealGas::table) {
    state = TabulatedState<V>(gas.grid, rho, coldest).state(thermal, coldest);
    internal = internal + coldest.energy;
    volume = coldest.volume;
  } else {
    state = RadiatingState<V>(gas.with_radiation, rho).state(thermal);
    volume = V(1.0) / rho;
  }
  const V inverse = V(1.0) / state.pressure, ratio = internal * inverse;
  const V by_pressure = state.thermal_by_pressure * per_pressure;
  const V by_density = ((internal + state.pressure) - state.modulus * by_pressure) * volume;
  energy[k_ratio] = ratio;
  energy[k_ratio_by_density] = by_density * inverse;
  energy[k_ratio_by_pressure] = (by_pressure - ratio) * inverse;
  energy[k_mean_pressure] = state.pressure;
  energy[k_exponent] = state.modulus * inverse;
}

template <class V>
KOKKOS_FUNCTION V outside_table(V rho, V thermal, const RealGas& gas) {
  if (gas.kind == RealGas::table) return TabulatedState<V>(gas.grid, rho).outside(thermal);
  return V(0.0);
}

}  // namespace octant::hydro
