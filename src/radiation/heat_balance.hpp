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

#include "core/compiler.hpp"
#include "core/simd.hpp"
#include "radiation/opacity.hpp"

namespace octant::radiation {

// Root T of linear T + quartic T^4 = sum, to round-off, for positive `linear` and `sum`. `guess` is
// used where it is close enough.
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V quartic_root(const V& linear, const V& quartic, const V& sum,
                                           const V& guess) {
  using Mask = typename SimdTraits<V>::Mask;
  constexpr int most = 12;
  constexpr double last_step = 3e-6;  // the relative error is then below 3 last_step^3
  V T = guess;
  const V reached = T * (linear + quartic * (T * T) * T);
  const Mask is_close = reached > V(0.8) * sum && reached < V(1.25) * sum;  // within 3 %
  if (any(!is_close)) {
    const V hottest = sum / linear;
    const V lambda = quartic * (hottest * hottest) * (hottest / linear);
    const V few = hottest * (V(1.0) + V(1.63) * lambda) / (V(1.0) + V(2.63) * lambda);
    const V thick = V(1.0) / square_root(square_root(lambda));
    const V many = hottest * (thick * (V(1.0) - thick * (V(0.25) + thick * V(0.0255))));
    T = select(is_close, T, select(lambda < V(1.0), few, many));
  }
  Mask active(true);
  for (int n = 0; n < most && any(active); ++n) {  // Halley's method
    const V square = quartic * (T * T);
    const V slope = fused_multiply_add(V(4.0) * square, T, linear);
    const V value = fused_multiply_add(T, fused_multiply_add(square, T, linear), -sum);
    const V step = value * slope / fused_multiply_add(slope, slope, V(-6.0) * square * value);
    T = select(active, T - step, T);
    active = active && !(absolute(step) <= V(last_step) * T);
  }
  return T;
}

// Temperature T, its fourth power, and the opacity kappa_P at this temperature.
template <class V>
struct Temperature {
  V value, fourth, opacity;
};

// Fraction theta = tau / (1 + tau) of an optical depth, and `rest` = 1 - theta.
template <class V>
struct ImplicitFraction {
  V theta, rest;
  ImplicitFraction() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit ImplicitFraction(const V& depth) {
    const V finite = min(depth, V(1e300));
    rest = V(1.0) / (V(1.0) + finite);
    theta = finite * rest;
  }
};

// Coefficients of the implicit equation in the cells of a pack, see above.
template <class V>
struct HeatBalance {
  using Mask = typename SimdTraits<V>::Mask;

  bool is_cubic;      // e(T) = quartic T^4 if true, else linear T
  V linear, quartic;  // one of them is positive
  V internal;         // e_old
  V radiation;        // r E_old, without the work of the radiation force
  V emission;         // A
  V path;             // c_reduced dt rho (1 + d): optical depth per opacity

  // Energy of gas and radiation, in units of the energy of the gas.
  KOKKOS_FORCEINLINE_FUNCTION V total() const { return internal + radiation; }
  // Energy of gas at this temperature.
  KOKKOS_FORCEINLINE_FUNCTION V internal_at(const Temperature<V>& T) const {
    return linear * T.value + quartic * T.fourth;
  }

  // Temperature after the step for a given opacity. `guess` may be any number.
  KOKKOS_FORCEINLINE_FUNCTION Temperature<V> at_opacity(const V& kappa, const V& guess) const {
    const ImplicitFraction<V> fraction(path * kappa);
    const V sum = internal + fraction.theta * radiation;
    const V factor = quartic + fraction.theta * emission;
    if (is_cubic) {
      const V fourth = sum / factor;
      return {square_root(square_root(fourth)), fourth, kappa};
    }
    const V T = quartic_root(linear, factor, sum, guess);
    return {T, (T * T) * (T * T), kappa};
  }

  // Residual of the implicit equation with the opacity of the temperature T, and its derivative.
  struct Residual {
    V value, slope;
    V opacity, exponent;  // d ln opacity / d ln T
  };
  KOKKOS_FORCEINLINE_FUNCTION Residual residual(const OpacityAtDensity<V>& law, const V& T) const {
    const auto [kappa, exponent] = law.evaluate(T);
    const V cube = T * T * T;
    const ImplicitFraction<V> fraction(path * kappa);
    const V theta = fraction.theta;
    const V excess = emission * cube * T - radiation;
    const V growth = exponent * theta * fraction.rest / T;  // d theta / d T
    return {linear * T + quartic * cube * T - internal + theta * excess,
            linear + V(4.0) * (quartic + theta * emission) * cube + growth * excess, kappa,
            exponent};
  }

  // Temperature after the step for an opacity that depends on it, which lies between the initial
  // temperature and that of equilibrium. There may be several solutions if the opacity increases
  // with the temperature; the result is one of them. Newton's method, safeguarded by bisection.
  KOKKOS_FORCEINLINE_FUNCTION Temperature<V> at_implicit_opacity(const OpacityAtDensity<V>& law,
                                                                 const V& initial,
                                                                 const V& guess) const {
    constexpr int most = 100;
    constexpr double last_step = 1e-9;  // its square is the error after this step of Newton's
    V cold = initial, hot = initial;
    bracket(initial, cold, hot);
    V T = min(max(guess, cold), hot), last = hot, kappa(0.0);
    Mask active(true);
    for (int n = 0; n < most && any(active); ++n) {
      const Residual r = residual(law, T);
      const Mask is_below = r.value < V(0.0);
      cold = select(active && is_below, T, cold);
      hot = select(active && !is_below, T, hot);
      const V step = r.value / r.slope, next = T - step;
      const Mask is_last = absolute(step) <= V(last_step) * T;
      const V opacity = select(is_last, r.opacity * (V(1.0) - r.exponent * step / T), r.opacity);
      kappa = select(active, opacity, kappa);
      T = select(active && is_last, next, T);
      active = active && !is_last && hot > cold * V(1.0 + 4e-16);
      const Mask is_safe = next > cold && next < hot && absolute(step) < V(0.5) * last;
      const V moved = select(is_safe, next, square_root(cold) * square_root(hot));
      last = select(active, absolute(moved - T), last);
      T = select(active, moved, T);
    }
    return {T, (T * T) * (T * T), kappa};
  }

  // Extends the interval from `cold` to `hot`, both the initial temperature, beyond the temperature
  // of equilibrium. The residual has different signs at its ends.
  KOKKOS_FORCEINLINE_FUNCTION void bracket(const V& initial, V& cold, V& hot) const {
    const V fourth = total() / (quartic + emission);
    V bound = square_root(square_root(fourth));
    if (!is_cubic) bound = min(bound, total() / linear);
    // The equilibrium temperature lies between 0.72 bound and bound.
    const Mask heats = emission * (initial * initial) * (initial * initial) < radiation;
    hot = select(heats, max(initial, V(1.01) * bound), hot);
    cold = select(heats, cold, min(initial, V(0.7) * bound));
  }
};

}  // namespace octant::radiation
