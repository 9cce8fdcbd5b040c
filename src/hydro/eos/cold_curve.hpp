// Equations of state with a cold pressure: p = p_c(rho) + (gamma - 1) (e - e_c(rho)).
//
// p_c and e_c are pressure and internal energy density of the gas at zero temperature, with
// rho de_c/drho = e_c + p_c. The rest, p - p_c and e - e_c, is the thermal part, that of an ideal
// gas: p_th = (gamma - 1) e_th. Along an isentrope p_th / rho^gamma is constant, and the bulk
// modulus is rho c^2 = gamma p_th + rho dp_c/drho (a Mie-Grueneisen equation of state with the
// constant Grueneisen coefficient gamma - 1).
#pragma once

#include "core/compiler.hpp"
#include "core/power.hpp"
#include "core/simd.hpp"

namespace octant::hydro {

// Cold part of the gas at one density. Conversions between pressures and energies are inverse to
// each other up to rounding.
template <class V>
struct ColdState {
  V pressure;      // p_c
  V energy;        // e_c, per volume
  V bulk_modulus;  // rho dp_c/drho

  // Thermal pressure of gas with this total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V thermal_pressure(const V& total) const { return total - pressure; }
  // Total pressure of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V total_pressure(const V& thermal) const {
    return thermal + pressure;
  }
  // Thermal energy per volume of gas with this internal energy per volume.
  KOKKOS_FORCEINLINE_FUNCTION V thermal_energy(const V& internal) const {
    return internal - energy;
  }
  // Internal energy per volume of gas with this total pressure; per_pressure = 1 / (gamma - 1).
  KOKKOS_FORCEINLINE_FUNCTION V internal_energy(const V& total, const V& per_pressure) const {
    return (total - pressure) * per_pressure + energy;
  }
  // rho c^2 of gas with this thermal pressure.
  KOKKOS_FORCEINLINE_FUNCTION V adiabatic_modulus(const V& thermal, double gamma) const {
    return V(gamma) * thermal + bulk_modulus;
  }
  // rho c^2 of gas with this total pressure.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_at(const V& total, double gamma) const {
    return adiabatic_modulus(thermal_pressure(total), gamma);
  }
  // rho c^2 of gas with this total pressure, for a thermal pressure of at least `floor`.
  KOKKOS_FORCEINLINE_FUNCTION V modulus_above(const V& total, double floor, double gamma) const {
    return adiabatic_modulus(max(thermal_pressure(total), V(floor)), gamma);
  }
};

// Cold part of an ideal gas: none. The functions have the same meaning as those of ColdState.
template <class V>
struct NoColdState {
  KOKKOS_FORCEINLINE_FUNCTION static V thermal_pressure(const V& total) { return total; }
  KOKKOS_FORCEINLINE_FUNCTION static V total_pressure(const V& thermal) { return thermal; }
  KOKKOS_FORCEINLINE_FUNCTION static V thermal_energy(const V& internal) { return internal; }
  KOKKOS_FORCEINLINE_FUNCTION static V internal_energy(const V& total, const V& per_pressure) {
    return total * per_pressure;
  }
  KOKKOS_FORCEINLINE_FUNCTION static V adiabatic_modulus(const V& thermal, double gamma) {
    return V(gamma) * thermal;
  }
  KOKKOS_FORCEINLINE_FUNCTION static V modulus_at(const V& total, double gamma) {
    return V(gamma) * total;
  }
};

// Pressure, energy density and bulk modulus of electrons at zero temperature in units of A, as
// functions of x = p_F / (m_e c) (Chandrasekhar 1935, MNRAS 95, 207).
template <class V>
struct DegenerateElectrons {
  // p / A = x (2 x^2 - 3) sqrt(1 + x^2) + 3 asinh(x) = 8 int_0^x t^4 / sqrt(1 + t^2) dt
  V pressure;
  V energy;        // e / A = 8 x^3 (sqrt(1 + x^2) - 1) - p / A
  V bulk_modulus;  // rho dp/drho / A = 8/3 x^5 / sqrt(1 + x^2)

  // Relative errors are below 1e-13 for any x. One division, two roots; lanes do not depend on each
  // other.
  KOKKOS_FORCEINLINE_FUNCTION explicit DegenerateElectrons(const V& x) {
    // For smaller x terms of the closed form cancel; for larger x the series converges slowly.
    constexpr double k_small = 0.4;
    const V square = x * x, cube = square * x, root = square_root(V(1.0) + square);
    const auto is_small = x <= V(k_small);
    pressure = V(0.0);
    if (any(!is_small))
      pressure = x * (V(2.0) * square - V(3.0)) * root + V(3.0) * logarithm(V(x + root));
    if (any(is_small)) pressure = select(is_small, cube * square * series(square), pressure);
    const V kinetic = square / (root + V(1.0));  // sqrt(1 + x^2) - 1
    energy = V(8.0) * cube * kinetic - pressure;
    bulk_modulus = V(8.0 / 3.0) * cube * square / root;
  }

 private:
  // 8 sum_n binom(-1/2, n) z^n / (2 n + 5), for z = x^2 up to 0.16.
  KOKKOS_FORCEINLINE_FUNCTION static V series(const V& z) {
    constexpr int k_terms = 20;
    struct Coefficients {
      double of[k_terms] = {};
      constexpr Coefficients() {
        double binomial = 8.0;
        for (int n = 0; n < k_terms; ++n) {
          of[n] = binomial / (2 * n + 5);
          binomial *= -(2.0 * n + 1.0) / (2.0 * n + 2.0);
        }
      }
    };
    constexpr Coefficients coefficients;
    return powers::polynomial(coefficients.of, z);
  }
};

// Cold part of degenerate electrons with the constant A at a density of x^3 / inverse_density. Out
// of line, which halves the time for compiling kernels.
template <class V>
OCTANT_OUT_OF_LINE ColdState<V> degenerate_state(V rho, double unit_of_pressure,
                                                 double inverse_density) {
  const DegenerateElectrons<V> electrons(power(V(rho * V(inverse_density)), 1.0 / 3.0));
  const V unit(unit_of_pressure);
  return {unit * electrons.pressure, unit * electrons.energy, unit * electrons.bulk_modulus};
}

// Cold curve of the gas, for kernels. Copied by value.
struct ColdCurve {
  enum Kind { none, degenerate, stiffened };

  Kind kind = none;              // none: an ideal gas
  double pressure = 0.0;         // degenerate: A; stiffened: p_inf
  double inverse_density = 0.0;  // degenerate: 1 / B, with x = (rho / B)^(1/3)

  // True unless the gas is ideal.
  KOKKOS_FORCEINLINE_FUNCTION bool exists() const { return kind != none; }

  // Cold part at a density, which must be positive; zero for an ideal gas.
  template <class V>
  KOKKOS_FORCEINLINE_FUNCTION ColdState<V> at(const V& rho) const {
    if (kind == degenerate) return degenerate_state(rho, pressure, inverse_density);
    if (kind == stiffened) return {V(-pressure), V(pressure), V(0.0)};
    return {V(0.0), V(0.0), V(0.0)};
  }

  // Infimum of p_c over all densities.
  KOKKOS_FORCEINLINE_FUNCTION double lowest_pressure() const {
    return kind == stiffened ? -pressure : 0.0;
  }
  // Upper bound of d ln p_c / d ln rho.
  KOKKOS_FORCEINLINE_FUNCTION double largest_exponent() const {
    return kind == degenerate ? 5.0 / 3.0 : 0.0;
  }
};

}  // namespace octant::hydro
