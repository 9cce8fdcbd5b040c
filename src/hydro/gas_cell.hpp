// Access to the gas of cells for other physics modules.
#pragma once

#include <cstdint>

#include "hydro/euler.hpp"
#include "hydro/hydro_options.hpp"

namespace octant::hydro {

// Stored variables of adjacent cells, in code units, one cell per SIMD lane of V. Copies refer to
// the same state.
template <class V>
class GasCells {
 public:
  using Mask = typename SimdTraits<V>::Mask;

  // Variable n is n * stride after `state`.
  KOKKOS_INLINE_FUNCTION GasCells(double* state, std::int64_t stride, const Gas& gas)
      : state_(state), stride_(stride), gas_(gas) {}

  // Loads a conserved variable: one of Conserved, or the density of a scalar.
  KOKKOS_FORCEINLINE_FUNCTION V load(int variable) const {
    return SimdTraits<V>::load(state_ + variable * stride_);
  }
  // Stores a conserved variable: one of Conserved, or the density of a scalar.
  KOKKOS_FORCEINLINE_FUNCTION void store(int variable, const V& value) const {
    SimdTraits<V>::store(state_ + variable * stride_, value);
  }

  // Mass density.
  KOKKOS_FORCEINLINE_FUNCTION V density() const { return load(k_mass); }

  // Thermal pressure as used by sweeps: from dual energy, and not below the floor. In an ideal gas,
  // it is the total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V thermal_pressure() const {
    const V entropy = gas_.dual_energy ? load(k_entropy) : V(0.0);
    const State<V> w = gas_.is_ideal() ? physical_state(state(), entropy, IdealGas(gas_))
                                       : physical_state(state(), entropy, gas_);
    return max(w[k_pressure], V(gas_.pressure_floor));
  }
  // Total pressure as used by sweeps.
  KOKKOS_FORCEINLINE_FUNCTION V pressure() const {
    if (gas_.is_ideal()) return thermal_pressure();
    return cold_state(density(), gas_).total_pressure(thermal_pressure());
  }

  // Thermal energy per mass. In an ideal gas, it is the internal energy.
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy() const {
    return internal_energy(thermal_pressure());
  }
  // Thermal energy per mass at this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V& pressure) const {
    return pressure / (V(gas_.gamma - 1.0) * density());
  }

  // Sets the thermal energy per mass, with a thermal pressure not below the floor. The total energy
  // changes accordingly, but by no more than its thermal part if it decreases; the dual-energy
  // entropy, if stored, is set from the new pressure. Returns the change of the stored energy
  // density. `old_pressure` is thermal_pressure(); cells outside the mask `meant` are unchanged.
  KOKKOS_FORCEINLINE_FUNCTION V set_internal_energy(const V& per_mass, const V& old_pressure,
                                                    const Mask& meant) const {
    const V before = load(k_energy);
    const V new_pressure = max(V(gas_.gamma - 1.0) * density() * per_mass, V(gas_.pressure_floor));
    const V change = affordable(old_pressure, new_pressure) / V(gas_.gamma - 1.0);
    const V after = select(meant, before + change, before);
    store(k_energy, after);
    if (gas_.dual_energy) {
      const V entropy = new_pressure / power(density(), gas_.gamma - 1.0);
      store(k_entropy, select(meant, entropy, load(k_entropy)));
    }
    return after - before;
  }

 protected:
  KOKKOS_FORCEINLINE_FUNCTION State<V> state() const {
    return load_state<V>(state_, static_cast<int>(stride_));
  }

  // Returns the pressure change, with decreases limited to the internal energy that the total
  // energy contains. The advected entropy of a mixture of hot rarefied and cold dense gas implies
  // more heat than both had; radiating that excess would remove kinetic energy.
  KOKKOS_FORCEINLINE_FUNCTION V affordable(const V& old_pressure, const V& new_pressure) const {
    const V change = new_pressure - old_pressure;
    const auto falls = change < V(0.0);
    if (!gas_.dual_energy || !any(falls)) return change;
    V volume;
    const V stored = unfloored_primitive(state(), gas_, volume)[k_pressure];
    return select(falls, max(change, min(new_pressure - stored, V(0.0))), change);
  }

  double* state_;
  std::int64_t stride_;
  const Gas& gas_;
};

// A single cell.
class GasCell : public GasCells<double> {
 public:
  using GasCells::GasCells;

  KOKKOS_INLINE_FUNCTION double& operator[](int variable) const {
    return state_[variable * stride_];
  }
  // Velocity component along an axis.
  KOKKOS_INLINE_FUNCTION double velocity(int axis) const {
    return (*this)[k_momentum_x + axis] / density();
  }

  // Sets the internal energy per mass; returns the change of the stored energy density, as in
  // GasCells.
  KOKKOS_INLINE_FUNCTION double set_internal_energy(double per_mass) const {
    return GasCells::set_internal_energy(per_mass, thermal_pressure(), true);
  }

  // Sets density, velocity and total pressure of the gas; scalars are unchanged. A pressure below
  // the cold one is raised to it: the thermal pressure is at least the floor.
  KOKKOS_INLINE_FUNCTION void set(double density, const double (&v)[3], double pressure) const {
    const double kinetic = 0.5 * density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    (*this)[k_mass] = density;
    for (int d = 0; d < 3; ++d) (*this)[k_momentum_x + d] = density * v[d];
    const AnyState<double> cold = cold_state(density, gas_);
    if (gas_.cold.exists() || gas_.real.exists())
      pressure = max(cold.thermal_pressure(pressure), gas_.pressure_floor);
    (*this)[k_energy] = pressure / (gas_.gamma - 1.0) + kinetic + cold.energy;
    if (gas_.dual_energy) (*this)[k_entropy] = pressure / Kokkos::pow(density, gas_.gamma - 1.0);
  }

  // Removes the fraction `share` of the gas, of all `variables`; velocity, temperature and
  // concentrations of the remaining gas are unchanged. Requires an ideal gas.
  KOKKOS_INLINE_FUNCTION void take(double share, int variables) const {
    const double left = 1.0 - share;
    for (int n = 0; n < variables; ++n) (*this)[n] *= left;
    // The entropy density at constant temperature scales as rho^(2 - gamma).
    if (gas_.dual_energy) (*this)[k_entropy] /= power(left, gas_.gamma - 1.0);
  }

  // Adds mass, momentum and total energy, per volume. The non-kinetic part of the energy heats the
  // gas; the dual-energy entropy, if stored, follows. Returns the energy added to keep the pressure
  // floor. Requires an ideal gas.
  KOKKOS_INLINE_FUNCTION double add(double mass, const double (&momentum)[3], double energy) const {
    const double per_pressure = 1.0 / (gas_.gamma - 1.0), old_pressure = pressure();
    const double new_density = density() + mass;
    double dot = 0.0, square = 0.0, before = 0.0;
    for (int d = 0; d < 3; ++d) {
      double& stored = (*this)[k_momentum_x + d];
      dot += stored * momentum[d];
      square += momentum[d] * momentum[d];
      before += stored * stored;
      stored += momentum[d];
    }
    // Avoids the difference of two large numbers in cold fast gas.
    const double kinetic = (dot + 0.5 * (square - before * mass / density())) / new_density;
    const double heated = old_pressure + (energy - kinetic) / per_pressure;
    const double new_pressure = max(heated, gas_.pressure_floor);
    const double raised = (new_pressure - heated) * per_pressure;
    (*this)[k_mass] = new_density;
    (*this)[k_energy] += energy + raised;
    if (gas_.dual_energy) (*this)[k_entropy] = new_pressure / power(new_density, gas_.gamma - 1.0);
    return raised;
  }
};

}  // namespace octant::hydro
