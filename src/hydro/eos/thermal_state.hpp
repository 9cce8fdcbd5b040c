// States of real gas (real_gas.hpp) at one density.
#pragma once

namespace octant::hydro {

// Coldest isotherm of a table at one density, and the position of the density in the table.
template <class V>
struct ColdestGas {
  V pressure, energy, modulus;  // energy per volume, rho c^2
  V volume;                     // 1 / rho
  V below, fraction;            // as in GridPlace (eos_lookup.hpp)
};

// Values of gas with a thermal pressure.
template <class V>
struct ThermalState {
  V pressure;             // total pressure
  V thermal_by_pressure;  // derivative of the thermal by the total pressure at constant density
  V modulus;              // rho c^2
};

}  // namespace octant::hydro
