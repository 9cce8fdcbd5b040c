// The gas of cells as other physics sees and changes it.
#pragma once

#include <cstdint>

#include "hydro/euler.hpp"
#include "hydro/gas_variables.hpp"

namespace octant::hydro {

// Cells of stored variables, in code units: as many as V holds, side by side in memory. It may be
// copied: the state stays where it is.
template <class V>
class GasCells {
 public:
  using Mask = typename PackTraits<V>::Mask;

  // Variable n lies n * stride after `state`.
  KOKKOS_INLINE_FUNCTION GasCells(double* state, std::int64_t stride, const Gas& gas)
      : state_(state), stride_(stride), gas_(gas) {}

  // A conserved variable: a Conserved, or a scalar's density.
  KOKKOS_FORCEINLINE_FUNCTION V load(int variable) const {
    return PackTraits<V>::load(state_ + variable * stride_);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(int variable, const V& value) const {
    PackTraits<V>::store(state_ + variable * stride_, value);
  }

  KOKKOS_FORCEINLINE_FUNCTION V density() const { return load(k_mass); }

  // As sweeps see it: by dual energy, and no less than its floor.
  KOKKOS_FORCEINLINE_FUNCTION V pressure() const {
    const V entropy = gas_.dual_energy ? load(k_entropy) : V(0.0);
    return max(physical_state(state(), entropy, gas_)[k_pressure], V(gas_.pressure_floor));
  }

  // Per mass; of the gas as it is, or at another pressure.
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy() const { return internal_energy(pressure()); }
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V& pressure) const {
    return pressure / (V(gas_.gamma - 1.0) * density());
  }

  // Gives the gas another internal energy per mass, of no less than the pressure's floor: its total
  // energy changes by as much, but falls by no more than it can spare, and its entropy, where dual
  // energy carries one, becomes that of the new pressure. Returns by how much the stored energy
  // density grew. `old_pressure` is pressure(); cells that are not `meant` stay as they are.
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

  // By how much the pressure of the total energy changes where gas goes to a new one. Entropies of
  // hot thin and cold dense gas that mix stand for more heat than both had: what the total energy
  // has none of is not radiated, or it would be taken from the motion.
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

// One of them.
class GasCell : public GasCells<double> {
 public:
  using GasCells::GasCells;

  KOKKOS_INLINE_FUNCTION double& operator[](int variable) const {
    return state_[variable * stride_];
  }
  KOKKOS_INLINE_FUNCTION double velocity(int axis) const {
    return (*this)[k_momentum_x + axis] / density();
  }

  // As that of several.
  KOKKOS_INLINE_FUNCTION double set_internal_energy(double per_mass) const {
    return GasCells::set_internal_energy(per_mass, pressure(), true);
  }

  // Makes the gas another one, with all but its scalars.
  KOKKOS_INLINE_FUNCTION void set(double density, const double (&v)[3], double pressure) const {
    const double kinetic = 0.5 * density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    (*this)[k_mass] = density;
    for (int d = 0; d < 3; ++d) (*this)[k_momentum_x + d] = density * v[d];
    (*this)[k_energy] = pressure / (gas_.gamma - 1.0) + kinetic;
    if (gas_.dual_energy) (*this)[k_entropy] = pressure / Kokkos::pow(density, gas_.gamma - 1.0);
  }

  // Takes away a share of the gas, of `variables` in all: what is left has its velocity,
  // temperature and concentrations.
  KOKKOS_INLINE_FUNCTION void take(double share, int variables) const {
    const double left = 1.0 - share;
    for (int n = 0; n < variables; ++n) (*this)[n] *= left;
    // The entropy goes as rho^(2 - gamma).
    if (gas_.dual_energy) (*this)[k_entropy] /= power(left, gas_.gamma - 1.0);
  }

  // Adds mass, momentum and total energy, per volume. What of the energy is not kinetic heats the
  // gas; the entropy, where dual energy carries one, follows. Returns what had to be added beside
  // it to keep the pressure's floor.
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
    // Without the difference of two large numbers in cold fast gas.
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
