// Dual-energy formalism: synchronisation of total energy and entropy.
//
// With DualEnergy::on, the entropy determines the pressure where the internal energy is less than a
// given fraction of the total energy. With DualEnergy::overwrite the criterion is the velocity
// variation around a cell, independent of the frame of reference. The reason: the kinetic energy of
// a cell's mean momentum lacks the kinetic energy of velocity differences within the cell, and
// limiters remove kinetic energy at extrema. Both missing parts appear as internal energy. They are
// truncation errors, of the order of density times squared velocity differences between cells, and
// must not heat cold gas. A shock causes heating of the same order, but abruptly.
#pragma once

#include "core/compiler.hpp"
#include "hydro/euler.hpp"

namespace octant::hydro {

// Estimate of the truncation error of the energy per mass, from the variation of the velocity
// around a cell; summed over the components of the velocity and the axes.
template <class V>
class Truncation {
 public:
  // Adds a velocity component of five adjacent cells, for the middle one. The steady slope is the
  // smaller difference from a neighbour. The second difference is the minmod of those in the cell
  // and its neighbours; it remains at extrema, where slopes vanish. In a shock both are small.
  KOKKOS_FORCEINLINE_FUNCTION void add(const V& q_2, const V& q_1, const V& q0, const V& q1,
                                       const V& q2) {
    const V left2 = q_1 - q_2, left = q0 - q_1, right = q1 - q0, right2 = q2 - q1;
    const V d2_left = left - left2, d2 = right - left, d2_right = right2 - right;
    const V least = min(d2, min(d2_left, d2_right));
    const V most = max(d2, max(d2_left, d2_right));
    const V agreed = max(least, V(0.0)) - min(most, V(0.0));
    const V left_square = left * left, right_square = right * right;
    slopes_ = slopes_ + (left_square + right_square);
    steady_slopes_ = steady_slopes_ + min(left_square, right_square);
    bends_ = fused_multiply_add(agreed, agreed, bends_);
  }

  // Upper bound of the truncation error in any flow, shocks included.
  KOKKOS_FORCEINLINE_FUNCTION V any() const {
    return V(0.5) * fused_multiply_add(V(k_slopes), slopes_, bends_);
  }
  // Truncation error from velocity changes that continue smoothly from cell to cell.
  KOKKOS_FORCEINLINE_FUNCTION V steady() const {
    return fused_multiply_add(V(k_slopes), steady_slopes_, V(0.5) * bends_);
  }

 private:
  // Calibrated factors of slopes (k_slopes) and second differences (0.5): above 0.025 and 0.2 the
  // gas in tests/physics/test_cosmology.py stays cold; with k_slopes below 0.05 Noh's implosion is
  // heated at once.
  static constexpr double k_slopes = 0.03;

  V slopes_ = V(0.0), steady_slopes_ = V(0.0), bends_ = V(0.0);
};

// Estimate for a pack of cells; velocity(d, x, y, z) is component d at this offset in cells.
template <class V, class Velocity>
KOKKOS_FORCEINLINE_FUNCTION Truncation<V> truncation_around(const Velocity& velocity) {
  Truncation<V> error;
  OCTANT_UNROLL(3)
  for (int d = 0; d < 3; ++d) {
    const V q = velocity(d, 0, 0, 0);
    error.add(velocity(d, -2, 0, 0), velocity(d, -1, 0, 0), q, velocity(d, 1, 0, 0),
              velocity(d, 2, 0, 0));
    error.add(velocity(d, 0, -2, 0), velocity(d, 0, -1, 0), q, velocity(d, 0, 1, 0),
              velocity(d, 0, 2, 0));
    error.add(velocity(d, 0, 0, -2), velocity(d, 0, 0, -1), q, velocity(d, 0, 0, 1),
              velocity(d, 0, 0, 2));
  }
  return error;
}

// Stores the estimate in planes.truncation(k) for the pack that begins with (i, j, k).
template <class Planes, class V>
KOKKOS_FORCEINLINE_FUNCTION void keep_truncation(const Planes& planes, int k, int j, int i,
                                                 const Truncation<V>& error) {
  double* const to = planes.truncation(k).at(j, i);
  SimdTraits<V>::store(to, error.any());
  SimdTraits<V>::store(to + Planes::InnerPlane::stride, error.steady());
}

// Fraction of the total energy below which rounding errors dominate the internal energy.
inline constexpr double k_rounding_share = 1e-8;
// Maximum ratio of internal energy to the steady error estimate for which an increase of the
// internal energy may be a truncation error.
inline constexpr double k_warm = 10.0;

// Synchronises the entropy at the end of a stage with DualEnergy::on: keeps the advected entropy
// where it determines the pressure, and resets it from the total energy elsewhere.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION void follow_energy(const State<V>& u, V& entropy, const G& gas) {
  V volume;
  const State<V> w = unfloored_primitive(u, gas, volume);
  entropy = select(entropy_rules(w[k_pressure], u[k_energy], gas), entropy,
                   w[k_pressure] / power(w[k_density], gas.gamma - 1.0));
}

// Synchronises entropy and energy at the end of a stage with DualEnergy::overwrite. Where the
// internal energy, or its excess over the value from the entropy, may be a truncation error, the
// advected entropy is kept and, if `overwrite`, the total energy is reset from it; elsewhere the
// entropy is reset from the total energy. Energies of unphysical states are unchanged.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION void guard_entropy(State<V>& u, V& entropy, const V& any_error,
                                               const V& steady_error, bool overwrite,
                                               const G& gas) {
  V volume;
  const State<V> w = unfloored_primitive(u, gas, volume);
  const V scale = power(w[k_density], gas.gamma - 1.0);  // pressure over entropy density
  const V per_pressure = V(1.0 / (gas.gamma - 1.0));
  const V internal = per_pressure * w[k_pressure];
  const V excess = internal - per_pressure * (entropy * scale);
  const V any = max(V(V(k_rounding_share) * u[k_energy]), V(u[k_mass] * any_error));
  const V steady = u[k_mass] * steady_error;
  const auto is_error =
      internal < any || (absolute(excess) < steady && internal < V(k_warm) * steady);
  if (overwrite) {
    const auto sound = entropy > V(0.0) && u[k_mass] >= V(gas.density_floor) && !lacks_energy(u, w);
    u[k_energy] = select(is_error && sound, u[k_energy] - excess, u[k_energy]);
  }
  entropy = select(is_error, entropy, w[k_pressure] / scale);
}

// Returns true if the entropy determines the pressure but implies far more internal energy than
// cold gas has. Where hot rarefied and cold dense gas mix, the advected entropy overestimates the
// internal energy by a factor of up to the density ratio to the power gamma - 1. `u` is conserved,
// `w` is the result of physical_state().
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION auto has_spurious_entropy(const State<V>& u, const State<V>& w,
                                                      const G& gas) {
  constexpr double k_cold = 10.0;  // factor of dual_energy_threshold
  const V internal = u[k_energy] - V(0.5) * momentum_dot_velocity(u, w);
  const V pressure = V(gas.gamma - 1.0) * cold_state(w[k_density], gas).thermal_energy(internal);
  return entropy_rules(pressure, u[k_energy], gas) &&
         !entropy_rules(w[k_pressure], V(V(k_cold) * u[k_energy]), gas);
}

// Returns true if a new state must fall back to first-order fluxes: `u` is conserved, `w` is the
// result of physical_state(). Guarded entropy (DualEnergy::overwrite) is not tested.
template <class V, class G>
KOKKOS_FORCEINLINE_FUNCTION auto needs_repair(const State<V>& u, const State<V>& w,
                                              const V& entropy, const G& gas, bool guards_entropy) {
  const auto bad = is_unphysical(u, w, entropy, gas);
  if (!gas.dual_energy || guards_entropy) return bad;
  return bad || has_spurious_entropy(u, w, gas);
}

// --- pressure of one cell, reset from its energy, its entropy or a floor -------------------------

// Returns true if a stored cell is unphysical by the criteria of euler.hpp.
KOKKOS_INLINE_FUNCTION bool is_unphysical(const double* cell, int stride, const Gas& gas) {
  const State<double> u = load_state<double>(cell, stride);
  const double entropy = gas.dual_energy ? cell[k_entropy * stride] : 0.0;
  return is_unphysical(u, physical_state(u, entropy, gas), entropy, gas);
}

// Thermal pressure of one cell from its total energy.
KOKKOS_INLINE_FUNCTION double pressure_of_energy(const State<double>& u, const Gas& gas) {
  double volume;
  return unfloored_primitive(u, gas, volume)[k_pressure];
}

// Returns true if the pressure of a cell follows from its entropy instead of its energy.
KOKKOS_INLINE_FUNCTION bool follows_entropy(const State<double>& u, const Gas& gas) {
  if (!gas.dual_energy) return false;
  double volume;
  const State<double> w = unfloored_primitive(u, gas, volume);
  return !lacks_energy(u, w) && entropy_rules(w[k_pressure], u[k_energy], gas);
}

// Total energy density of one cell with the thermal pressure `pressure`, increased by slightly more
// than rounding errors, so that the cell does not end below the floor.
template <class V>
KOKKOS_INLINE_FUNCTION V energy_at(const State<V>& u, V pressure, const Gas& gas) {
  V volume;
  AnyState<V> cold;
  const State<V> w = unfloored_primitive(u, gas, volume, cold);
  return (pressure / V(gas.gamma - 1.0) + V(0.5) * momentum_dot_velocity(u, w) + cold.energy) *
         V(1.0 + 1e-14);
}
// Returns the entropy density rho (p / rho^gamma), increased by slightly more than rounding errors.
KOKKOS_INLINE_FUNCTION double entropy_at(double density, double pressure, const Gas& gas) {
  return pressure / power(density, gas.gamma - 1.0) * (1.0 + 1e-14);
}

// Reduces the velocity of one cell, if necessary, until its total energy suffices for the pressure
// floor.
KOKKOS_INLINE_FUNCTION void slow_down(State<double>& u, const Gas& gas) {
  double volume;
  AnyState<double> cold;
  const State<double> w = unfloored_primitive(u, gas, volume, cold);
  const double kinetic = 0.5 * momentum_dot_velocity(u, w);
  const double most =
      max(cold.thermal_energy(u[k_energy]) - gas.pressure_floor / (gas.gamma - 1.0), 0.0);
  if (!(kinetic > most)) return;
  const double factor = Kokkos::sqrt(most / kinetic);
  for (int n = k_momentum_x; n <= k_momentum_z; ++n) u[n] *= factor;
}

}  // namespace octant::hydro
