// Which states of a sweep fall back to first-order fluxes.
#pragma once

#include "hydro/euler.hpp"
#include "hydro/kernel_arguments.hpp"

namespace octant::hydro {

// Whether entropy rules though it stands for far more heat than cold gas has. Hot, thin and cold,
// dense gas that mix have less heat than their mixed entropies say, by up to the ratio of densities
// to the power gamma - 1: a pressure that nothing pays for. u conserved, w as physical_state() has
// it.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto feigns_heat(const State<V>& u, const State<V>& w, const Gas& gas) {
  constexpr double k_cold = 10.0;  // times the share below which entropy rules
  const V pressure = V(gas.gamma - 1.0) * (u[k_energy] - V(0.5) * momentum_dot_velocity(u, w));
  return entropy_rules(pressure, u[k_energy], gas) &&
         !entropy_rules(w[k_pressure], V(V(k_cold) * u[k_energy]), gas);
}

// u conserved, w as physical_state() has it. Where entropy is guarded it is trusted by other
// measures (DualEnergy::overwrite).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION auto needs_repair(const State<V>& u, const State<V>& w,
                                              const V& entropy, const KernelArguments& a) {
  const auto bad = is_unphysical(u, w, entropy, a.gas);
  if (!a.gas.dual_energy || a.guards_entropy) return bad;
  return bad || feigns_heat(u, w, a.gas);
}

}  // namespace octant::hydro
