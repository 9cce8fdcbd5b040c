// Gas whose internal energy is not proportional to its pressure: gas with radiation
// (gas_radiation.hpp), and gas with a tabulated equation of state (eos_grid.hpp).
//
// The thermal pressure of such gas is gamma - 1 times its internal energy, above that of the
// coldest isotherm of a table: the pressure of an ideal gas with this energy. Functions that
// change the energy of gas, or raise it to a floor, thus work on any gas. The total pressure is a
// function of density and thermal pressure.
#pragma once

#include "hydro/eos/cold_curve.hpp"
#include "hydro/eos/eos_grid.hpp"
#include "hydro/eos/gas_radiation.hpp"
#include "hydro/eos/thermal_state.hpp"

namespace octant::hydro {

// Equation of state of real gas, for kernels. Copied by value.
struct RealGas {
  enum Kind { none, radiation, table };

  Kind kind = none;  // none: the gas is ideal, or has a cold curve
  GasRadiation with_radiation = {};
  EosGrid grid = {};
  double smallest_ratio = 1.0;    // lower bound of total over thermal pressure
  double largest_exponent = 0.0;  // upper bound of rho c^2 / p

  // True if the gas is real.
  KOKKOS_FORCEINLINE_FUNCTION bool exists() const { return kind != none; }
};

// Functions of real gas are out of line and compiled once, for double and SimdDouble. Definitions
// for GPUs, where they are inlined, are in real_gas_functions.hpp.

// Sets `coldest` to the coldest isotherm of a table. (Large structures are not returned: a caller
// would copy them.)
template <class V>
KOKKOS_FUNCTION void find_coldest_gas(V rho, const RealGas& gas, ColdestGas<V>& coldest);
// Total pressure of gas with a thermal pressure. `coldest` is the pressure of the coldest isotherm.
template <class V>
KOKKOS_FUNCTION V real_pressure(V rho, V thermal, V coldest, const RealGas& gas);
// Thermal pressure of gas with a total pressure.
template <class V>
KOKKOS_FUNCTION V real_thermal_pressure(V rho, V pressure, const RealGas& gas);
// Internal energy per volume of gas with a total pressure; per_pressure = 1 / (gamma - 1).
template <class V>
KOKKOS_FUNCTION V real_energy(V rho, V pressure, V per_pressure, const RealGas& gas);
// Adiabatic bulk modulus rho c^2 of gas with a total pressure, to about 4 digits.
template <class V>
KOKKOS_FUNCTION V modulus_of_pressure(V rho, V pressure, const RealGas& gas);
// Adiabatic bulk modulus rho c^2 of gas with a thermal pressure, to about 4 digits. `coldest` is
// unused in gas with radiation.
template <class V>
KOKKOS_FUNCTION V modulus_of_thermal(V rho, V thermal, const ColdestGas<V>& coldest,
                                     const RealGas& gas);

// Values of real gas in a cell on which the states at its faces depend.
enum CellEnergy {
  k_ratio,              // e / p, with the internal energy e per volume
  k_ratio_by_density,   // d(e / p) / d rho at constant pressure
  k_ratio_by_pressure,  // d(e / p) / d p at constant density
  k_mean_pressure,      // total pressure p of the cell
  k_exponent,           // rho c^2 / p
  k_cell_energies
};
template <class V>
struct EnergyExpansion {
  V value[k_cell_energies];
  KOKKOS_FORCEINLINE_FUNCTION V& operator[](int n) { return value[n]; }
  KOKKOS_FORCEINLINE_FUNCTION const V& operator[](int n) const { return value[n]; }
};
// Sets `energy` to that of gas with a thermal pressure; per_pressure = 1 / (gamma - 1). `coldest`
// is unused in gas with radiation.
template <class V>
KOKKOS_FUNCTION void expand_energy(V rho, V thermal, V per_pressure, const ColdestGas<V>& coldest,
                                   const RealGas& gas, EnergyExpansion<V>& energy);
// Returns 1 if gas of this density and thermal pressure is beyond the densities of the table, or
// hotter than the hottest isotherm, otherwise 0. Returns 0 for gas with radiation.
template <class V>
KOKKOS_FUNCTION V outside_table(V rho, V thermal, const RealGas& gas);

// Thermodynamics of gas with one density for any equation of state. Points to the RealGas.
template <class V>
struct AnyState : ColdState<V> {
  V density;
  const RealGas* real = nullptr;  // nullptr unless the gas is real
  ColdestGas<V> coldest;          // of a table

  AnyState() = default;
  KOKKOS_FORCEINLINE_FUNCTION AnyState(const V& rho, const ColdCurve& curve, const RealGas& gas) {
    set(rho, curve, gas);
  }
  // Sets the state to that of gas with this density.
  KOKKOS_FORCEINLINE_FUNCTION void set(const V& rho, const ColdCurve& curve, const RealGas& gas) {
    density = rho;
    real = gas.exists() ? &gas : nullptr;
    if (gas.kind == RealGas::table) {
      find_coldest_gas<V>(rho, gas, coldest);
      this->pressure = coldest.pressure, this->energy = coldest.energy;
    } else {
      static_cast<ColdState<V>&>(*this) = curve.at(rho);
    }
  }

  // Thermal pressure of gas with this total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V thermal_pressure(const V& total) const {
    if (real) return real_thermal_pressure<V>(density, total, *real);
    return ColdState<V>::thermal_pressure(total);
  }
  // Total pressure of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V total_pressure(const V& thermal) const {
    if (real) return real_pressure<V>(density, thermal, this->pressure, *real);
    return ColdState<V>::total_pressure(thermal);
  }
  // Internal energy per volume of gas with this total pressure; per_pressure = 1 / (gamma - 1).
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V& total, const V& per_pressure) const {
    if (real) return real_energy<V>(density, total, per_pressure, *real);
    return ColdState<V>::internal_energy(total, per_pressure);
  }
  // Sets `energy` to the expansion of real gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION void expand(const V& thermal, const V& per_pressure,
                                          EnergyExpansion<V>& energy) const {
    expand_energy<V>(density, thermal, per_pressure, coldest, *real, energy);
  }
  // rho c^2 of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V adiabatic_modulus(const V& thermal, double gamma) const {
    if (real) return modulus_of_thermal<V>(density, thermal, coldest, *real);
    return ColdState<V>::adiabatic_modulus(thermal, gamma);
  }
  // rho c^2 of gas with this total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_at(const V& total, double gamma) const {
    if (real) return modulus_of_pressure<V>(density, total, *real);
    return ColdState<V>::modulus_at(total, gamma);
  }
  // rho c^2 of gas with this total pressure, for a thermal pressure of at least `floor`.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_above(const V& total, double floor, double gamma) const {
    if (real) return modulus_of_pressure<V>(density, total, *real);
    return ColdState<V>::modulus_above(total, floor, gamma);
  }
};

}  // namespace octant::hydro

#if defined(OCTANT_GPU_COMPILER)
#include "hydro/eos/real_gas_functions.hpp"
#endif
