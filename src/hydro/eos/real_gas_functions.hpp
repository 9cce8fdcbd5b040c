// Definitions of the functions that real_gas.hpp declares. Included after their declarations, by
// real_gas.cpp and, for GPUs, by real_gas.hpp.
#pragma once

#include "hydro/eos/eos_lookup.hpp"
#include "hydro/eos/radiation_functions.hpp"

namespace octant::hydro {

template <class V>
KOKKOS_FUNCTION ColdestGas<V> coldest_gas(V rho, const RealGas& gas) {
  const auto coldest = TabulatedState<V>(gas.grid, rho).isotherm();
  return {coldest.pressure, coldest.energy};
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
  return state.thermal(pressure - state.isotherm().pressure);
}

template <class V>
KOKKOS_FUNCTION V real_energy(V rho, V pressure, V per_pressure, const RealGas& gas) {
  if (gas.kind == RealGas::radiation)
    return RadiatingState<V>(gas.with_radiation, rho).thermal(pressure) * per_pressure;
  const TabulatedState<V> state(gas.grid, rho);
  const auto coldest = state.isotherm();
  return state.thermal(pressure - coldest.pressure) * per_pressure + coldest.energy;
}

template <class V>
KOKKOS_FUNCTION V modulus_of_pressure(V rho, V pressure, const RealGas& gas) {
  if (gas.kind == RealGas::table)
    return TabulatedState<V>(gas.grid, rho).modulus_of_pressure(pressure);
  return RadiatingState<V>(gas.with_radiation, rho).modulus_of_pressure(pressure);
}

template <class V>
KOKKOS_FUNCTION V modulus_of_thermal(V rho, V thermal, V coldest, const RealGas& gas) {
  if (gas.kind == RealGas::table)
    return TabulatedState<V>(gas.grid, rho).modulus_of_thermal(thermal, coldest);
  return RadiatingState<V>(gas.with_radiation, rho).modulus_of_thermal(thermal);
}

// The derivatives at constant pressure and at constant density are related by rho c^2 = K:
//   rho de/drho = e + p - K de/dp.
template <class V>
KOKKOS_FUNCTION EnergyRatio<V> energy_ratio(V rho, V pressure, V per_pressure, const RealGas& gas) {
  const ThermalEnergy<V> thermal =
      gas.kind == RealGas::table
          ? TabulatedState<V>(gas.grid, rho).energy(pressure, per_pressure)
          : RadiatingState<V>(gas.with_radiation, rho).energy(pressure, per_pressure);
  const V inverse = V(1.0) / pressure, ratio = thermal.energy * inverse;
  const V by_density = (thermal.energy + pressure - thermal.modulus * thermal.by_pressure) / rho;
  return {thermal.modulus, ratio, by_density * inverse, (thermal.by_pressure - ratio) * inverse};
}

template <class V>
KOKKOS_FUNCTION V outside_table(V rho, V thermal, const RealGas& gas) {
  if (gas.kind == RealGas::table) return TabulatedState<V>(gas.grid, rho).outside(thermal);
  return V(0.0);
}

}  // namespace octant::hydro
