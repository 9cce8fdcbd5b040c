// Rates of hydrogen and helium against published values and direct evaluation of their formulas.
#include "subgrid/ionization/ionization_rates.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

namespace octant::subgrid::ionization {
namespace {

constexpr double k_boltzmann = constants::k_boltzmann;

// coefficient lambda^power (1 + (lambda / scale)^inner)^-outer, lambda = 2 kelvin / T.
double fit(double kelvin, double T, double coefficient, double power, double scale, double inner,
           double outer) {
  const double lambda = 2.0 * kelvin / T;
  return coefficient * std::pow(lambda, power) /
         std::pow(1.0 + std::pow(lambda / scale, inner), outer);
}

void expect_rate(const Rate& found, double expected, const char* name, double T) {
  EXPECT_NEAR(found.value, expected, 1e-11 * expected + 1e-200) << name << " at T = " << T;
}

TEST(IonizationRates, exponential_has_the_bits_of_a_single_number_in_each_lane) {
  double numbers[8] = {-1e4, -500.0, -123.456, -1e-3, 0.0, 1e-9, 3.7, 499.0};
  const double copies[8] = {-1e4, -500.0, -123.456, -1e-3, 0.0, 1e-9, 3.7, 499.0};
  transform(numbers, [](const auto& x) { return exponential(x); });
  for (int n = 0; n < 8; ++n) {
    const double within = std::max(copies[n], -500.0);
    EXPECT_EQ(numbers[n], exponential(copies[n]));
    EXPECT_NEAR(numbers[n] / std::exp(within), 1.0, 3e-16 * std::max(1.0, std::abs(within)));
  }
}

TEST(IonizationRates, recombination_at_1e4_kelvin_has_published_values) {
  const GasRates B(1e4, true), A(1e4, false);
  // Osterbrock & Ferland (2006, tables 2.1 and 2.4), within the accuracy of the fits.
  EXPECT_NEAR(B.recombination[0].value, 2.59e-13, 0.01e-13);
  EXPECT_NEAR(A.recombination[0].value, 4.18e-13, 0.15e-13);
  EXPECT_NEAR(B.recombination[1].value, 2.72e-13, 0.15e-13);
  EXPECT_NEAR(A.recombination[1].value, 4.32e-13, 0.3e-13);
  // Recombination of HeIII is that of HII at a quarter of the temperature, twice as large.
  const double ratio = 157807.0 / 631515.0;
  EXPECT_NEAR(B.recombination[2].value, 2.0 * GasRates(1e4 * ratio, true).recombination[0].value,
              1e-26);
}

TEST(IonizationRates, recombination_has_the_formulas_of_hui_and_gnedin) {
  for (const double T : {10.0, 3e2, 1e4, 7e4, 1e6, 1e9}) {
    const GasRates B(T, true), A(T, false);
    constexpr double kelvin[3] = {157807.0, 285335.0, 631515.0};
    const double lambda = 2.0 * kelvin[1] / T;
    const double a[3] = {fit(kelvin[0], T, 1.269e-13, 1.503, 0.522, 0.470, 1.923),
                         3.0e-14 * std::pow(lambda, 0.654),
                         2.0 * fit(kelvin[2], T, 1.269e-13, 1.503, 0.522, 0.470, 1.923)};
    const double b[3] = {fit(kelvin[0], T, 2.753e-14, 1.500, 2.740, 0.407, 2.242),
                         1.26e-14 * std::pow(lambda, 0.750),
                         2.0 * fit(kelvin[2], T, 2.753e-14, 1.500, 2.740, 0.407, 2.242)};
    const double dielectronic = 1.9e-3 * std::pow(T, -1.5) * std::exp(-0.75 * kelvin[2] / T) *
                                (1.0 + 0.3 * std::exp(-0.15 * kelvin[2] / T));
    expect_rate(A.recombination[0], a[0], "case A of HII", T);
    expect_rate(B.recombination[0], b[0], "case B of HII", T);
    expect_rate(A.recombination[1], a[1] + dielectronic, "case A of HeII", T);
    expect_rate(B.recombination[1], b[1] + dielectronic, "case B of HeII", T);
    expect_rate(A.recombination[2], a[2], "case A of HeIII", T);
    expect_rate(B.recombination[2], b[2], "case B of HeIII", T);
    for (int s = 0; s < 3; ++s) {
      // The fits to HeII intersect at 68 K.
      EXPECT_NEAR(A.to_ground[s].value, std::max(a[s] - b[s], 0.0), 1e-11 * a[s]);
      EXPECT_EQ(B.to_ground[s].value, 0.0);
      EXPECT_EQ(B.ground_loss[s].value, 0.0);
      EXPECT_EQ(A.ion_loss[s].value, B.ion_loss[s].value);
    }
    const double braking = 1.42e-27 * 1.3 * std::sqrt(T);
    const double captured = 0.75 * k_boltzmann * kelvin[2] * dielectronic + braking;
    const auto case_a = [&](int s) { return A.ion_loss[s] + A.ground_loss[s]; };
    expect_rate(case_a(0), T * fit(kelvin[0], T, 1.778e-29, 1.965, 0.541, 0.502, 2.697) + braking,
                "case A cooling of HII", T);
    expect_rate(B.ion_loss[0],
                T * fit(kelvin[0], T, 3.435e-30, 1.970, 2.250, 0.376, 3.720) + braking,
                "case B cooling of HII", T);
    expect_rate(case_a(1), k_boltzmann * T * std::max(a[1], b[1]) + captured,
                "case A cooling of HeII", T);
    expect_rate(B.ion_loss[1], k_boltzmann * T * b[1] + captured, "case B cooling of HeII", T);
    expect_rate(case_a(2),
                2.0 * T * fit(kelvin[2], T, 1.778e-29, 1.965, 0.541, 0.502, 2.697) + 4.0 * braking,
                "case A cooling of HeIII", T);
    expect_rate(B.ion_loss[2],
                2.0 * T * fit(kelvin[2], T, 3.435e-30, 1.970, 2.250, 0.376, 3.720) + 4.0 * braking,
                "case B cooling of HeIII", T);
  }
}

TEST(IonizationRates, collisions_have_the_formulas_of_cen) {
  for (const double T : {3e3, 1e4, 7e4, 1e6, 1e9}) {
    const GasRates rates(T, true);
    const double cut = 1.0 / (1.0 + std::sqrt(1e-5 * T)), common = std::sqrt(T) * cut;
    const double e[3] = {std::exp(-157809.1 / T), std::exp(-285335.4 / T), std::exp(-631515.0 / T)};
    expect_rate(rates.ionization[0], 5.85e-11 * common * e[0], "ionisation of HI", T);
    expect_rate(rates.ionization[1], 2.38e-11 * common * e[1], "ionisation of HeI", T);
    expect_rate(rates.ionization[2], 5.68e-12 * common * e[2], "ionisation of HeII", T);
    expect_rate(rates.metastable_loss, 9.10e-27 * std::pow(T, -0.1687) * cut * std::exp(-13179 / T),
                "excitation of HeI", T);
    // Cen's losses by ionisation have three digits.
    const double losses[3] = {
        1.27e-21 * common * e[0] + 7.5e-19 * cut * std::exp(-118348.0 / T),
        9.38e-22 * common * e[1],
        4.95e-22 * common * e[2] + 5.54e-17 * std::pow(T, -0.397) * cut * std::exp(-473638.0 / T)};
    for (int s = 0; s < 3; ++s) EXPECT_NEAR(rates.atom_loss[s].value / losses[s], 1.0, 5e-3);
  }
}

TEST(IonizationRates, slopes_are_derivatives) {
  for (const bool on_the_spot : {true, false})
    for (const double T : {10.0, 3e2, 1e4, 7e4, 1e6, 1e9}) {
      const double d = 1e-4;
      const GasRates rates(T, on_the_spot), low(T * std::exp(-d), on_the_spot),
          high(T * std::exp(d), on_the_spot);
      const auto expect_slope = [&](const Rate& rate, const Rate& below, const Rate& above) {
        const double found = (above.value - below.value) / (2.0 * d);
        // The error of the difference is its third derivative, at most that of e^(-T_s / T).
        const double scale = std::abs(rate.slope) + std::abs(rate.value);
        const double cubic = std::pow(d * (1.0 + std::abs(rate.slope / (rate.value + 1e-200))), 2);
        EXPECT_NEAR(rate.slope, found, (1e-7 + cubic) * scale + 1e-200) << "T = " << T;
      };
      for (int s = 0; s < 3; ++s) {
        expect_slope(rates.ionization[s], low.ionization[s], high.ionization[s]);
        expect_slope(rates.recombination[s], low.recombination[s], high.recombination[s]);
        expect_slope(rates.to_ground[s], low.to_ground[s], high.to_ground[s]);
        expect_slope(rates.atom_loss[s], low.atom_loss[s], high.atom_loss[s]);
        expect_slope(rates.ion_loss[s], low.ion_loss[s], high.ion_loss[s]);
        expect_slope(rates.ground_loss[s], low.ground_loss[s], high.ground_loss[s]);
      }
      expect_slope(rates.metastable_loss, low.metastable_loss, high.metastable_loss);
    }
}

}  // namespace
}  // namespace octant::subgrid::ionization
