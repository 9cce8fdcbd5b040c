// The gas of one cell as other physics sees and changes it.
#pragma once

#include <cstdint>

#include "hydro/euler.hpp"
#include "hydro/gas_variables.hpp"

namespace octant::hydro {

// A cell of stored variables, in code units. It may be copied: the state stays where it is.
class GasCell {
 public:
  // Variable n lies n * stride after `state`.
  KOKKOS_INLINE_FUNCTION GasCell(double* state, std::int64_t stride, const Gas& gas)
      : state_(state), stride_(stride), gas_(gas) {}

  // A conserved variable: a Conserved, or a scalar's density.
  KOKKOS_INLINE_FUNCTION double& operator[](int variable) const {
    return state_[variable * stride_];
  }

  KOKKOS_INLINE_FUNCTION double density() const { return state_[0]; }
  KOKKOS_INLINE_FUNCTION double velocity(int axis) const {
    return (*this)[k_momentum_x + axis] / density();
  }

  // As sweeps see it: by dual energy, and no less than its floor.
  KOKKOS_FORCEINLINE_FUNCTION double pressure() const {
    const State<double> u = load_state<double>(state_, static_cast<int>(stride_));
    const double entropy = gas_.dual_energy ? (*this)[k_entropy] : 0.0;
    return max(physical_state(u, entropy, gas_)[k_pressure], gas_.pressure_floor);
  }

  // Per mass; of the gas as it is, or at another pressure.
  KOKKOS_INLINE_FUNCTION double internal_energy() const { return internal_energy(pressure()); }
  KOKKOS_INLINE_FUNCTION double internal_energy(double pressure) const {
    return pressure / ((gas_.gamma - 1.0) * density());
  }

  // Makes the gas another one, with all but its scalars.
  KOKKOS_INLINE_FUNCTION void set(double density, const double (&v)[3], double pressure) const {
    const double kinetic = 0.5 * density * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    (*this)[k_mass] = density;
    for (int d = 0; d < 3; ++d) (*this)[k_momentum_x + d] = density * v[d];
    (*this)[k_energy] = pressure / (gas_.gamma - 1.0) + kinetic;
    if (gas_.dual_energy) (*this)[k_entropy] = pressure / Kokkos::pow(density, gas_.gamma - 1.0);
  }

  // Gives the gas another internal energy per mass, of no less than the pressure's floor: its total
  // energy changes by as much, but falls by no more than it can spare, and its entropy, where dual
  // energy carries one, becomes that of the new pressure. Returns by how much the stored energy
  // density grew. `old_pressure` is pressure().
  KOKKOS_INLINE_FUNCTION double set_internal_energy(double per_mass) const {
    return set_internal_energy(per_mass, pressure());
  }
  KOKKOS_FORCEINLINE_FUNCTION double set_internal_energy(double per_mass,
                                                         double old_pressure) const {
    const double before = (*this)[k_energy];
    const double new_pressure = max((gas_.gamma - 1.0) * density() * per_mass, gas_.pressure_floor);
    (*this)[k_energy] = before + affordable(old_pressure, new_pressure) / (gas_.gamma - 1.0);
    if (gas_.dual_energy) (*this)[k_entropy] = new_pressure / power(density(), gas_.gamma - 1.0);
    return (*this)[k_energy] - before;
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

 private:
  // By how much the pressure of the total energy changes where gas goes to a new one. Entropies of
  // hot thin and cold dense gas that mix stand for more heat than both had: what the total energy
  // has none of is not radiated, or it would be taken from the motion.
  KOKKOS_INLINE_FUNCTION double affordable(double old_pressure, double new_pressure) const {
    const double change = new_pressure - old_pressure;
    if (!gas_.dual_energy || !(change < 0.0)) return change;
    const State<double> u = load_state<double>(state_, static_cast<int>(stride_));
    double volume;
    const double stored = unfloored_primitive(u, gas_, volume)[k_pressure];
    return max(change, min(new_pressure - stored, 0.0));
  }

  double* state_;
  std::int64_t stride_;
  const Gas& gas_;
};

}  // namespace octant::hydro
