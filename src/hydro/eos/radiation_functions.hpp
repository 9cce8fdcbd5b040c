// Functions of ideal gas in equilibrium with its radiation (gas_radiation.hpp), for kernels.
#pragma once

#include "core/simd.hpp"
#include "hydro/eos/gas_radiation.hpp"
#include "hydro/eos/thermal_state.hpp"

namespace octant::hydro {

// Thermodynamics of gas with radiation at one density. The thermal pressure is (gamma - 1) e.
template <class V>
class RadiatingState {
 public:
  KOKKOS_FORCEINLINE_FUNCTION RadiatingState(const GasRadiation& gas, const V& rho)
      : gas_(gas), density_(rho), of_thermal_((gas.gamma - 1.0) * gas.constant) {}

  // Total pressure of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V pressure(const V& thermal) const {
    return sum(theta<k_exact>(thermal, of_thermal_), of_pressure_);
  }
  // Thermal pressure of gas with this total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V thermal(const V& pressure) const {
    return sum(theta<k_exact>(pressure, of_pressure_), of_thermal_);
  }
  // State of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION ThermalState<V> state(const V& thermal) const {
    const V at = theta<k_exact>(thermal, of_thermal_), four_cubes = V(4.0) * (at * at * at);
    const V slope = fused_multiply_add(V(of_thermal_), four_cubes, density_) /
                    fused_multiply_add(V(of_pressure_), four_cubes, density_);
    return {sum(at, of_pressure_), slope, modulus(at)};
  }
  // Adiabatic bulk modulus rho c^2 of gas with this total pressure, to 4 digits.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_of_pressure(const V& pressure) const {
    return modulus(theta<k_coarse>(pressure, of_pressure_));
  }
  // Adiabatic bulk modulus of gas with this thermal pressure, to 4 digits.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_of_thermal(const V& thermal) const {
    return modulus(theta<k_coarse>(thermal, of_thermal_));
  }

 private:
  static constexpr int k_coarse = 1, k_exact = 3;  // steps of Newton's method

  // Positive root of rho theta + c theta^4 = target. In units of (target / c)^(1/4) it is the root
  // z of z^4 + q z = 1, with q = rho (target / c)^(1/4) / target. A rational function of q with the
  // limits 1 - q / 4 and 1 / q approximates the root to 0.35 per cent. Newton's method reduces the
  // error to 2e-5 in one step, and to rounding in three. 2 + Steps divisions, two roots.
  template <int Steps>
  KOKKOS_FORCEINLINE_FUNCTION V theta(const V& given, double c) const {
    constexpr double k_least = 1e-200;
    const V target = max(V(k_least), given);
    const V unit = square_root(square_root(V(target * V(1.0 / c))));
    const V q = density_ * unit / target;
    const V above = fused_multiply_add(q, fused_multiply_add(q, V(0.368994), V(0.276288)), V(1.0));
    V below = fused_multiply_add(q, V(0.368994), V(0.320655));
    below = fused_multiply_add(q, fused_multiply_add(q, below, V(0.578707)), V(1.0));
    V z = above / below;
    OCTANT_UNROLL(4)
    for (int step = 0; step < Steps; ++step) {
      const V cube = z * z * z;
      z = fused_multiply_add(V(3.0) * cube, z, V(1.0)) / fused_multiply_add(V(4.0), cube, q);
    }
    return unit * z;
  }

  // rho theta + c theta^4.
  KOKKOS_FORCEINLINE_FUNCTION V sum(const V& theta, double c) const {
    const V square = theta * theta;
    return fused_multiply_add(V(c) * square, square, density_ * theta);
  }
  // rho c^2 = p_gas + (p_gas + 4 p_rad)^2 / (p_gas / (gamma - 1) + 12 p_rad). One division.
  KOKKOS_FORCEINLINE_FUNCTION V modulus(const V& theta) const {
    const V gas = density_ * theta, square = theta * theta;
    const V radiation = V(of_pressure_) * (square * square);
    const V push = fused_multiply_add(V(4.0), radiation, gas);
    const V heat = fused_multiply_add(V(12.0), radiation, V(1.0 / (gas_.gamma - 1.0)) * gas);
    return fused_multiply_add(push, push / heat, gas);
  }

  const GasRadiation& gas_;
  V density_;
  double of_thermal_;                         // coefficient of theta^4 in the thermal pressure
  double of_pressure_ = gas_.constant / 3.0;  // coefficient of theta^4 in the total pressure
};

}  // namespace octant::hydro
