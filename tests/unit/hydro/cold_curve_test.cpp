// Cold curves of the equation of state.
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "core/units.hpp"
#include "hydro/euler.hpp"
#include "hydro/gas_cell.hpp"

namespace octant::hydro::test {
namespace {

constexpr ColdCurve k_electrons{ColdCurve::degenerate, 3.0, 0.5};

double density_of(double x) { return 2.0 * x * x * x; }

// p / A from the closed form in extended precision, whose terms cancel for small x.
long double closed_pressure(long double x) {
  return x * (2 * x * x - 3) * std::sqrt(1 + x * x) + 3 * std::asinh(x);
}

// p / A = 8 int_0^x t^4 / sqrt(1 + t^2) dt by its Taylor series, for small x.
long double series_pressure(long double x) {
  long double sum = 0, term = 8 * x * x * x * x * x;
  for (int n = 0; n < 60; ++n) {
    sum += term / (2 * n + 5);
    term *= -(2.0L * n + 1) / (2.0L * n + 2) * x * x;
  }
  return sum;
}

long double expected_pressure(long double x) {
  return x < 0.3L ? series_pressure(x) : closed_pressure(x);
}

TEST(ColdCurve, has_the_pressure_and_energy_of_degenerate_electrons) {
  for (double x = 1e-6; x < 1e3; x *= 1.17) {
    const auto cold = k_electrons.at(density_of(x));
    const long double pressure = 3 * expected_pressure(x), z = static_cast<long double>(x) * x;
    const long double kinetic = z / (std::sqrt(1 + z) + 1);
    const long double energy = 24 * z * x * kinetic - pressure;
    EXPECT_NEAR(cold.pressure / static_cast<double>(pressure), 1.0, 1e-12) << x;
    EXPECT_NEAR(cold.energy / static_cast<double>(energy), 1.0, 1e-12) << x;
    EXPECT_NEAR(cold.bulk_modulus / static_cast<double>(8 * z * z * x / std::sqrt(1 + z)), 1.0,
                1e-12)
        << x;
  }
}

TEST(ColdCurve, has_the_limits_of_slow_and_ultrarelativistic_electrons) {
  const double slow = 1e-4, fast = 1e4;
  const auto cold = k_electrons.at(density_of(slow)), dense = k_electrons.at(density_of(fast));
  EXPECT_NEAR(cold.pressure / (3.0 * 1.6 * std::pow(slow, 5)), 1.0, 1e-8);
  EXPECT_NEAR(cold.energy / (1.5 * cold.pressure), 1.0, 1e-8);
  EXPECT_NEAR(dense.pressure / (3.0 * 2.0 * std::pow(fast, 4)), 1.0, 1e-7);
  EXPECT_NEAR(dense.bulk_modulus / (4.0 / 3.0 * dense.pressure), 1.0, 1e-7);
}

TEST(ColdCurve, is_continuous_where_the_series_ends) {
  const double ends = density_of(0.4);
  double below = ends * (1.0 - 1e-13), above = ends * (1.0 + 1e-13);
  const auto a = k_electrons.at(below), b = k_electrons.at(above);
  EXPECT_NEAR(a.pressure / b.pressure, 1.0, 1e-12);
  EXPECT_NEAR(a.energy / b.energy, 1.0, 1e-12);
}

TEST(ColdCurve, obeys_the_first_law) {
  for (const ColdCurve& curve : {k_electrons, ColdCurve{ColdCurve::stiffened, 3.0, 0.0}})
    for (const double density : {1e-6, 0.01, 0.2, 1.0, 30.0, 1e5}) {
      const double step = 1e-5 * density;
      const auto above = curve.at(density + step), below = curve.at(density - step);
      const auto cold = curve.at(density);
      EXPECT_NEAR(density * (above.energy - below.energy) / (2.0 * step),
                  cold.energy + cold.pressure, 1e-8 * std::abs(cold.energy));
      EXPECT_NEAR(density * (above.pressure - below.pressure) / (2.0 * step), cold.bulk_modulus,
                  1e-8 * std::abs(cold.pressure));
    }
}

TEST(ColdCurve, gives_the_same_bits_in_all_lanes) {
  using P = SimdTraits<SimdDouble>;
  const auto density = [](int lane) { return density_of(0.1 * std::pow(4.0, lane)); };
  const auto cold = k_electrons.at(P::generate(density));
  for (int lane = 0; lane < P::width; ++lane) {
    const auto alone = k_electrons.at(density(lane));
    EXPECT_EQ(P::lane(cold.pressure, lane), alone.pressure);
    EXPECT_EQ(P::lane(cold.energy, lane), alone.energy);
    EXPECT_EQ(P::lane(cold.bulk_modulus, lane), alone.bulk_modulus);
  }
}

TEST(ColdCurve, has_the_same_bits_in_units_that_differ_by_powers_of_two) {
  const ColdCurve scaled{ColdCurve::degenerate, 3.0 * 128.0, 0.5 / 8.0};
  for (const double density : {1e-3, 0.5, 1.7, 33.0, 1e3})
    EXPECT_EQ(scaled.at(8.0 * density).pressure, 128.0 * k_electrons.at(density).pressure);
}

TEST(ColdCurve, is_inverted_by_stored_states) {
  double cell[k_hydro_variables + 1] = {};
  for (const bool dual_energy : {false, true}) {
    const Gas gas{.gamma = 5.0 / 3.0, .dual_energy = dual_energy, .cold = k_electrons};
    const GasCell stored(cell, 1, gas);
    for (const double density : {0.01, 1.0, 40.0}) {
      const double cold = gas.cold.at(density).pressure;
      for (const double thermal : {0.1 * cold, cold, 30.0 * cold}) {
        stored.set(density, {0.3, -0.2, 0.1}, cold + thermal);
        EXPECT_NEAR(stored.pressure() / (cold + thermal), 1.0, 1e-13);
        EXPECT_NEAR(stored.thermal_pressure() / thermal, 1.0, 1e-12);
        EXPECT_NEAR(stored.internal_energy() / (1.5 * thermal / density), 1.0, 1e-12);
        stored.set_internal_energy(2.0 * stored.internal_energy());
        EXPECT_NEAR(stored.pressure() / (cold + 2.0 * thermal), 1.0, 1e-12);
      }
    }
  }
}

TEST(ColdCurve, raises_given_pressures_to_the_cold_one) {
  double cell[k_hydro_variables];
  const Gas gas{.pressure_floor = 1e-9, .cold = k_electrons};
  const GasCell stored(cell, 1, gas);
  stored.set(2.0, {0.0, 0.0, 0.0}, 1e-3);
  EXPECT_NEAR(stored.pressure() / gas.cold.at(2.0).pressure, 1.0, 1e-9);
}

TEST(EosOptions, have_the_constants_of_electrons_in_any_units) {
  EosOptions eos;
  eos.kind = EquationOfState::white_dwarf;
  EXPECT_THROW(eos.set_constants(nullptr, 5.0 / 3.0), InputError);
  const CodeUnits units{.length = 1e9, .mass = 2e33, .time = 3.0};
  eos.set_constants(&units, 5.0 / 3.0);
  EXPECT_DOUBLE_EQ(eos.degeneracy_pressure * units.energy_density(), 6.0023e22);
  EXPECT_DOUBLE_EQ(eos.degeneracy_density * units.density(), 2.0 * 9.81011e5);
  eos.given_degeneracy_pressure = 7.0, eos.given_degeneracy_density = 5.0;
  eos.set_constants(nullptr, 5.0 / 3.0);
  EXPECT_EQ(eos.cold_curve().pressure, 7.0);
  EXPECT_EQ(eos.cold_curve().inverse_density, 0.2);
}

}  // namespace
}  // namespace octant::hydro::test
