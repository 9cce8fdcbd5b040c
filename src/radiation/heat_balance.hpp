// Implicit equation for the temperature of gas that emits and absorbs radiation.
//
// With e(T) the internal energy of the gas, r = c / c_reduced, and E the energy of radiation, all
// per volume, a step of backward Euler of absorption and emission,
//   e(T) - e_old = c dt rho kappa_P ((1 + d) E - a T^4) = r (E_old - E),
// becomes, with the optical depth tau = c_reduced dt rho kappa_P (1 + d) and theta = tau/(1 + tau),
//   e(T) + theta A T^4 = e_old + theta r E_old,   A = r a / (1 + d),
//   r E = (1 - theta) r E_old + theta A T^4.
// No term is a difference of large numbers, however stiff the equation is, and whether gas or
// radiation has most of the energy.
#pragma once

#include <Kokkos_MathematicalFunctions.hpp>

#include "core/compiler.hpp"
#include "core/simd.hpp"
#include "radiation/opacity.hpp"

namespace octant::radiation {

// Root T of linear T + quartic T^4 = sum, to round-off, for positive `linear` and `sum`. `guess` is
// used if it is close enough. Adds the number of iterations to `iterations`.
KOKKOS_FORCEINLINE_FUNCTION double quartic_root(double linear, double quartic, double sum,
                                                double guess, int& iterations) {
  constexpr int most = 12;
  constexpr double last_step = 3e-6;  // the relative error is then below 3 last_step^3
  double T = guess;
  const double reached = T * (linear + quartic * (T * T) * T);
  if (!(reached > 0.8 * sum && reached < 1.25 * sum)) {  // a guess within 3 %
    const double hottest = sum / linear;
    const double lambda = quartic * (hottest * hottest) * (hottest / linear);
    if (lambda < 1.0) {
      T = hottest * (1.0 + 1.63 * lambda) / (1.0 + 2.63 * lambda);
    } else {
      const double thick = 1.0 / Kokkos::sqrt(Kokkos::sqrt(lambda));
      T = hottest * (thick * (1.0 - thick * (0.25 + thick * 0.0255)));
    }
  }
  for (int n = 0; n < most; ++n) {  // Halley's method
    const double square = quartic * (T * T);
    const double slope = fused_multiply_add(4.0 * square, T, linear);
    const double value = fused_multiply_add(T, fused_multiply_add(square, T, linear), -sum);
    const double step = value * slope / fused_multiply_add(slope, slope, -6.0 * square * value);
    T -= step;
    ++iterations;
    if (Kokkos::fabs(step) <= last_step * T) break;
  }
  return T;
}

// Temperature T, its fourth power, and the opacity kappa_P at this temperature.
struct Temperature {
  double value, fourth, opacity;
};

// Fraction theta = tau / (1 + tau) of an optical depth, and `rest` = 1 - theta.
struct ImplicitFraction {
  double theta, rest;
  KOKKOS_FORCEINLINE_FUNCTION explicit ImplicitFraction(double depth) {
    const double finite = min(depth, 1e300);
    rest = 1.0 / (1.0 + finite);
    theta = finite * rest;
  }
};

// Coefficients of the implicit equation, see above.
struct HeatBalance {
  double linear, quartic;  // e(T) = linear T + quartic T^4; one of them is positive
  double internal;         // e_old
  double radiation;        // r E_old, without the work of the radiation force
  double emission;         // A
  double path;             // c_reduced dt rho (1 + d): optical depth per opacity

  // Energy of gas and radiation, in units of the energy of the gas.
  KOKKOS_FORCEINLINE_FUNCTION double total() const { return internal + radiation; }
  // Energy of gas at this temperature.
  KOKKOS_FORCEINLINE_FUNCTION double internal_at(const Temperature& T) const {
    return linear * T.value + quartic * T.fourth;
  }

  // Temperature after the step for a given opacity. `guess` may be any number.
  KOKKOS_FORCEINLINE_FUNCTION Temperature at_opacity(double kappa, double guess,
                                                     int& iterations) const {
    const ImplicitFraction fraction(path * kappa);
    const double sum = internal + fraction.theta * radiation;
    const double factor = quartic + fraction.theta * emission;
    if (!(linear > 0.0)) {
      ++iterations;
      const double fourth = sum / factor;
      return {Kokkos::sqrt(Kokkos::sqrt(fourth)), fourth, kappa};
    }
    const double T = quartic_root(linear, factor, sum, guess, iterations);
    return {T, (T * T) * (T * T), kappa};
  }

  // Residual of the implicit equation with the opacity of the temperature T, and its derivative.
  struct Residual {
    double value, slope;
    double opacity, exponent;  // d ln opacity / d ln T
  };
  KOKKOS_FORCEINLINE_FUNCTION Residual residual(const OpacityAtDensity& law, double T) const {
    const auto [kappa, exponent] = law.evaluate(T);
    const double cube = T * T * T;
    const ImplicitFraction fraction(path * kappa);
    const double theta = fraction.theta;
    const double excess = emission * cube * T - radiation;
    const double growth = exponent * theta * fraction.rest / T;  // d theta / d T
    return {linear * T + quartic * cube * T - internal + theta * excess,
            linear + 4.0 * (quartic + theta * emission) * cube + growth * excess, kappa, exponent};
  }

  // Temperature after the step for an opacity that depends on it, which lies between the initial
  // temperature and that of equilibrium. There may be several solutions if the opacity increases
  // with the temperature; the result is one of them. Newton's method, safeguarded by bisection.
  KOKKOS_FORCEINLINE_FUNCTION Temperature at_implicit_opacity(const OpacityAtDensity& law,
                                                              double initial, double guess,
                                                              int& iterations) const {
    constexpr int most = 100;
    constexpr double last_step = 1e-9;  // its square is the error after this step of Newton's
    double cold = initial, hot = initial;
    bracket(initial, cold, hot);
    double T = min(max(guess, cold), hot), last = hot, kappa = 0.0;
    for (int n = 0; n < most; ++n) {
      ++iterations;
      const Residual r = residual(law, T);
      (r.value < 0.0 ? cold : hot) = T;
      const double step = r.value / r.slope, next = T - step;
      kappa = r.opacity;
      if (Kokkos::fabs(step) <= last_step * T) {
        kappa *= 1.0 - r.exponent * step / T;
        T = next;
        break;
      }
      if (!(hot > cold * (1.0 + 4e-16))) break;
      const bool is_safe = next > cold && next < hot && Kokkos::fabs(step) < 0.5 * last;
      const double moved = is_safe ? next : Kokkos::sqrt(cold) * Kokkos::sqrt(hot);
      last = Kokkos::fabs(moved - T);
      T = moved;
    }
    return {T, (T * T) * (T * T), kappa};
  }

  // Extends the interval from `cold` to `hot`, both the initial temperature, beyond the temperature
  // of equilibrium. The residual has different signs at its ends.
  KOKKOS_FORCEINLINE_FUNCTION void bracket(double initial, double& cold, double& hot) const {
    const double fourth = total() / (quartic + emission);
    double bound = Kokkos::sqrt(Kokkos::sqrt(fourth));
    if (linear > 0.0) bound = min(bound, total() / linear);
    // The equilibrium temperature lies between 0.72 bound and bound.
    const bool heats = emission * (initial * initial) * (initial * initial) < radiation;
    if (heats) hot = max(initial, 1.01 * bound);
    else cold = min(initial, 0.7 * bound);
  }
};

}  // namespace octant::radiation
