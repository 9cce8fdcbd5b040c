// Rates of collisional ionisation, recombination and cooling of hydrogen and helium, with their
// derivatives. Fits to recombination of Hui & Gnedin (1997, MNRAS 292, 27, appendix A), collisional
// ionisation and excitation of Cen (1992, ApJS 78, 341), as in Rosdahl et al. (2013, MNRAS 436,
// 2188, appendix E); bremsstrahlung of Osterbrock & Ferland (2006, eq. 3.14).
#pragma once

#include "core/power.hpp"
#include "core/simd.hpp"
#include "subgrid/ionization/ionized_gas.hpp"

namespace octant::subgrid::ionization {

// e^x for |x| < 500, and its value at these limits beyond them, in SIMD lanes or a single number
// with the same bits. The relative error is below 2e-16 max(1, |x|).
template <class V>
KOKKOS_FORCEINLINE_FUNCTION V exponential(const V& x) {
  using Traits = SimdTraits<V>;
  constexpr double log2_e = 1.4426950408889634, shift = 1.5 * 4503599627370496.0;
  const V within = min(max(x, V(-500.0)), V(500.0));
  const V shifted = fused_multiply_add(within, V(log2_e), V(shift));
  const V r = fused_multiply_add(within, V(log2_e), V(shift) - shifted);
  const V mantissa = powers::exp2_of_fraction(r);
  return Traits::from_bits(Traits::bits(mantissa) + (Traits::bits(shifted) << 52));
}

// Replaces Count numbers by f(number), in SIMD lanes.
template <int Count, class Function>
KOKKOS_FORCEINLINE_FUNCTION void transform(double* numbers, const Function& f) {
  using Traits = SimdTraits<SimdDouble>;
  static_assert(Count % Traits::width == 0);
  OCTANT_UNROLL(16)
  for (int n = 0; n < Count; n += Traits::width) {
    const SimdDouble found = f(Traits::generate([&](int lane) { return numbers[n + lane]; }));
    for (int lane = 0; lane < Traits::width; ++lane) numbers[n + lane] = Traits::lane(found, lane);
  }
}

template <int Count, class Function>
KOKKOS_FORCEINLINE_FUNCTION void transform(double (&numbers)[Count], const Function& f) {
  transform<Count>(&numbers[0], f);
}

// Rate coefficient and its derivative by ln T.
struct Rate {
  double value, slope;

  KOKKOS_FORCEINLINE_FUNCTION friend Rate operator+(const Rate& a, const Rate& b) {
    return {a.value + b.value, a.slope + b.slope};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rate operator-(const Rate& a, const Rate& b) {
    return {a.value - b.value, a.slope - b.slope};
  }
  KOKKOS_FORCEINLINE_FUNCTION friend Rate operator*(double factor, const Rate& a) {
    return {factor * a.value, factor * a.slope};
  }
};

// Fits of Hui & Gnedin to recombination in lambda = 2 T_s / T, with the ionisation temperature T_s:
//   coefficient lambda^power (1 + y)^-outer,  y = (lambda / scale)^inner.
// The fit to recombination cooling is divided by the temperature.
struct RecombinationFit {
  double coefficient, power, log_scale, inner, outer;

  // ln(y).
  KOKKOS_FORCEINLINE_FUNCTION double log_y(double log_lambda) const {
    return inner * (log_lambda - log_scale);
  }
  // ln(value / coefficient).
  KOKKOS_FORCEINLINE_FUNCTION double log_shape(double log_lambda, double log_one_plus_y) const {
    return power * log_lambda - outer * log_one_plus_y;
  }
  // Value times `multiplier`, with its derivative by ln T; `shape` is value / coefficient.
  KOKKOS_FORCEINLINE_FUNCTION Rate rate(double multiplier, double shape, double y) const {
    const double value = multiplier * coefficient * shape;
    return {value, value * (inner * outer * y / (1.0 + y) - power)};
  }
};

// Recombination of HII in case A or B. That of HeIII is twice as large at its own lambda.
KOKKOS_FORCEINLINE_FUNCTION constexpr RecombinationFit recombination_fit(bool on_the_spot) {
  if (on_the_spot) return {2.753e-14, 1.500, 1.007957920399979, 0.407, 2.242};
  return {1.269e-13, 1.503, -0.6500876910994983, 0.470, 1.923};
}
// Cooling by it, per temperature. That of HeIII is twice as large at its own lambda, because losses
// are Z^3 times those of hydrogen at T / Z^2 (Hui & Gnedin have eight times, but without the 1 / 4
// of this temperature electrons would lose four times their energy).
KOKKOS_FORCEINLINE_FUNCTION constexpr RecombinationFit cooling_fit(bool on_the_spot) {
  if (on_the_spot) return {3.435e-30, 1.970, 0.8109302162163288, 0.376, 3.720};
  return {1.778e-29, 1.965, -0.6143360001356555, 0.502, 2.697};
}

// Radiative recombination of HeII: coefficient lambda^power.
struct HeliumFit {
  double coefficient, power;

  // Value with its derivative by ln T; `shape` is value / coefficient.
  KOKKOS_FORCEINLINE_FUNCTION Rate rate(double shape) const {
    return {coefficient * shape, -power * coefficient * shape};
  }
};
// Fits of case A and B.
KOKKOS_FORCEINLINE_FUNCTION constexpr HeliumFit helium_fit(bool on_the_spot) {
  if (on_the_spot) return {1.26e-14, 0.750};
  return {3.0e-14, 0.654};
}

// Rates at one temperature. Species of `ionization` and `atom_loss` are HI, HeI and HeII, those of
// `recombination`, `to_ground` and `ion_loss` HII, HeII and HeIII. Losses are per electron.
class GasRates {
 public:
  Rate ionization[3];     // cm^3 s^-1
  Rate recombination[3];  // cm^3 s^-1; of case B or A, with dielectronic recombination of HeII
  Rate to_ground[3];      // cm^3 s^-1; radiative recombination of case A less that of case B
  Rate atom_loss[3];      // ionisation and excitation in erg cm^3 s^-1
  Rate ion_loss[3];       // recombination of case B and bremsstrahlung in erg cm^3 s^-1
  Rate ground_loss[3];    // kinetic energy of electrons that recombine to ground states
  // Excitation of HeI from its metastable level 2 3S, which recombination populates, in
  // erg cm^6 s^-1: per n_e^2 n_HeII at low density.
  Rate metastable_loss;

  GasRates() = default;
  // Rates of case B or case A at temperature T in K. `to_ground` and `ground_loss` are 0 in case B.
  KOKKOS_INLINE_FUNCTION GasRates(double T, bool on_the_spot) {
    const RecombinationFit rate = recombination_fit(on_the_spot), cooling = cooling_fit(true);
    const HeliumFit helium = helium_fit(on_the_spot);
    const double inverse = 1.0 / T, log_t = logarithm(T);
    // ln(2 T_s / T) with T_s = 157807, 285335 and 631515 K.
    const double log_lambda[3] = {12.662275226919286 - log_t, 13.254566388120152 - log_t,
                                  14.049024154019651 - log_t};
    double e[16] = {-157809.1 * inverse,
                    -285335.4 * inverse,
                    -631515.0 * inverse,
                    -118348.0 * inverse,
                    -13179.0 * inverse - 0.1687 * log_t,
                    -473638.0 * inverse - 0.397 * log_t,
                    -k_dielectronic * inverse,
                    -1.2 * k_dielectronic * inverse,
                    rate.log_y(log_lambda[0]),
                    cooling.log_y(log_lambda[0]),
                    rate.log_y(log_lambda[2]),
                    cooling.log_y(log_lambda[2]),
                    helium.power * log_lambda[1],
                    helium_fit(true).power * log_lambda[1],
                    recombination_fit(true).log_y(log_lambda[0]),
                    recombination_fit(true).log_y(log_lambda[2])};
    transform(e, [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); });
    double shape[4] = {e[8], e[9], e[10], e[11]};
    take_logarithms(shape);
    shape[0] = rate.log_shape(log_lambda[0], shape[0]);
    shape[1] = cooling.log_shape(log_lambda[0], shape[1]);
    shape[2] = rate.log_shape(log_lambda[2], shape[2]);
    shape[3] = cooling.log_shape(log_lambda[2], shape[3]);
    transform(shape, [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); });

    const double root = square_root(T);
    set_atoms(inverse, root, e);
    recombination[0] = rate.rate(1.0, shape[0], e[8]);
    recombination[1] = helium.rate(e[12]);
    recombination[2] = rate.rate(2.0, shape[2], e[10]);
    const Rate radiated[3] = {times(T, cooling.rate(1.0, shape[1], e[9])),
                              constants::k_boltzmann * times(T, helium_fit(true).rate(e[13])),
                              times(T, cooling.rate(2.0, shape[3], e[11]))};
    for (int s = 0; s < 3; ++s) to_ground[s] = ground_loss[s] = {0.0, 0.0};
    if (!on_the_spot) set_ground(T, log_lambda, e, radiated);
    set_ions(T, root, radiated, e);
  }

 private:
  static constexpr double k_dielectronic = 0.75 * 631515.0;  // K

  // Replaces y by ln(1 + y).
  KOKKOS_FORCEINLINE_FUNCTION static void take_logarithms(double (&y)[4]) {
    transform(y, [](const auto& a) OCTANT_INLINE_LAMBDA { return logarithm(1.0 + a); });
  }

  // Ionisation and excitation by electrons.
  KOKKOS_FORCEINLINE_FUNCTION void set_atoms(double inverse, double root, const double (&e)[16]) {
    constexpr double coefficients[3] = {5.85e-11, 2.38e-11, 5.68e-12};
    constexpr double kelvin[3] = {157809.1, 285335.4, 631515.0};
    constexpr double per_root = 0.0031622776601683794;  // 1e-5^(1/2)
    const double root_5 = root * per_root, cut = 1.0 / (1.0 + root_5);
    const double cut_slope = -0.5 * root_5 * cut;
    for (int s = 0; s < 3; ++s) {
      const double value = coefficients[s] * root * cut * e[s];
      ionization[s] = {value, value * (0.5 + cut_slope + kelvin[s] * inverse)};
      atom_loss[s] = (ionization_energy(s) * constants::k_electron_volt) * ionization[s];
    }
    const auto excitation = [&](double value, double slope) {
      return Rate{value * cut, value * cut * (cut_slope + slope)};
    };
    atom_loss[0] = atom_loss[0] + excitation(7.5e-19 * e[3], 118348.0 * inverse);
    atom_loss[2] = atom_loss[2] + excitation(5.54e-17 * e[5], 473638.0 * inverse - 0.397);
    metastable_loss = excitation(9.10e-27 * e[4], 13179.0 * inverse - 0.1687);
  }

  // A rate per temperature, times T.
  KOKKOS_FORCEINLINE_FUNCTION static Rate times(double T, const Rate& a) {
    return {T * a.value, T * (a.value + a.slope)};
  }

  // Radiative recombination to ground states, and cooling by it: case A less case B, whose losses
  // are `radiated`.
  KOKKOS_FORCEINLINE_FUNCTION void set_ground(double T, const double (&log_lambda)[3],
                                              const double (&e)[16], const Rate (&radiated)[3]) {
    const RecombinationFit fit = recombination_fit(true), cooling = cooling_fit(false);
    double y[4] = {cooling.log_y(log_lambda[0]), cooling.log_y(log_lambda[2]), 0.0, 0.0};
    transform(y, [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); });
    double shape[4] = {e[14], e[15], y[0], y[1]};
    take_logarithms(shape);
    shape[0] = fit.log_shape(log_lambda[0], shape[0]);
    shape[1] = fit.log_shape(log_lambda[2], shape[1]);
    shape[2] = cooling.log_shape(log_lambda[0], shape[2]);
    shape[3] = cooling.log_shape(log_lambda[2], shape[3]);
    transform(shape, [](const auto& x) OCTANT_INLINE_LAMBDA { return exponential(x); });
    ground_loss[0] = times(T, cooling.rate(1.0, shape[2], y[0])) - radiated[0];
    ground_loss[1] = constants::k_boltzmann * times(T, recombination[1]) - radiated[1];
    ground_loss[2] = times(T, cooling.rate(2.0, shape[3], y[1])) - radiated[2];
    to_ground[0] = recombination[0] - fit.rate(1.0, shape[0], e[14]);
    to_ground[1] = recombination[1] - helium_fit(true).rate(e[13]);
    to_ground[2] = recombination[2] - fit.rate(2.0, shape[1], e[15]);
    // The fits of case A and B to HeII intersect at 68 K.
    for (int s = 0; s < 3; ++s)
      if (!(to_ground[s].value > 0.0 && ground_loss[s].value > 0.0))
        to_ground[s] = ground_loss[s] = {0.0, 0.0};
  }

  // Losses of ions, from those by radiative recombination in case B; then adds dielectronic
  // recombination.
  KOKKOS_FORCEINLINE_FUNCTION void set_ions(double T, double root, const Rate (&radiated)[3],
                                            const double (&e)[16]) {
    constexpr double k = constants::k_boltzmann, gaunt = 1.3;
    const double inverse = 1.0 / T, common = 1.9e-3 * inverse / root;
    const double first = common * e[6], second = 0.3 * common * e[7];
    const double exponent = k_dielectronic * inverse;
    const Rate dielectronic{first + second,
                            first * (exponent - 1.5) + second * (1.2 * exponent - 1.5)};
    const double braking = 1.42e-27 * gaunt * root;
    const Rate bremsstrahlung{braking, 0.5 * braking};
    ion_loss[0] = radiated[0] + bremsstrahlung;
    ion_loss[1] = radiated[1] + (k * k_dielectronic) * dielectronic + bremsstrahlung;
    ion_loss[2] = radiated[2] + 4.0 * bremsstrahlung;
    recombination[1] = recombination[1] + dielectronic;
  }
};

}  // namespace octant::subgrid::ionization
