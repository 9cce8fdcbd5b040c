#include "cosmology/expansion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/error.hpp"
#include "cosmology/universe.hpp"
#include "tests/unit/reference_path.hpp"

namespace octant::cosmology {
namespace {

constexpr Background k_matter_only{.omega_m = 1.0};
constexpr Background k_planck{.omega_m = 0.3111, .omega_lambda = 0.6889};

TEST(Expansion, of_matter_alone_has_the_times_and_growth_of_einstein_and_de_sitter) {
  const Expansion expansion(k_matter_only);
  for (const double a : {1e-4, 0.01, 0.32, 1.0, 3.0}) {
    EXPECT_NEAR(expansion.supercomoving_time(a) / (2.0 - 2.0 / std::sqrt(a) + 1e-300), 1.0,
                a == 1.0 ? INFINITY : 1e-10);
    EXPECT_NEAR(expansion.cosmic_time(a) / (2.0 / 3.0 * std::pow(a, 1.5)), 1.0, 1e-10);
    const Growth growth = expansion.growth(a);
    EXPECT_NEAR(growth.first / a, 1.0, 1e-9);
    EXPECT_NEAR(growth.first_rate, 1.0, 1e-9);
    EXPECT_NEAR(growth.second / (-3.0 / 7.0 * a * a), 1.0, 1e-9);
    EXPECT_NEAR(growth.second_rate, 2.0, 1e-9);
  }
}

TEST(Expansion, scale_factor_is_the_inverse_of_time) {
  const Expansion expansion(k_planck);
  for (double a = 1.1e-5; a < 90.0; a *= 1.37)
    EXPECT_NEAR(expansion.scale_factor(expansion.supercomoving_time(a)) / a, 1.0, 1e-12);
  EXPECT_NEAR(expansion.supercomoving_time(1.0), 0.0, 1e-12);
}

TEST(Expansion, growth_of_dark_energy_and_matter_is_heaths_integral) {
  // Heath (1977): D is proportional to E times the integral of da / (a E)^3.
  const Background open{.omega_m = 0.3, .omega_lambda = 0.5};
  const auto heath = [&](double a) {
    const int steps = 200000;
    double sum = 0.0;
    for (int n = 0; n < steps; ++n) {
      const double at = a * (n + 0.5) / steps;
      sum += a / steps * std::pow(at * open.hubble(at), -3.0);
    }
    return open.hubble(a) * sum;
  };
  const Expansion expansion(open);
  EXPECT_NEAR(expansion.growth(0.2).first / (heath(0.2) / heath(1.0)), 1.0, 1e-7);
}

TEST(Expansion, radiation_and_evolving_dark_energy_obey_friedmanns_equation) {
  const Background background{
      .omega_m = 0.31, .omega_lambda = 0.69, .omega_radiation = 9e-5, .w0 = -0.9, .wa = 0.2};
  const Expansion expansion(background);
  const double a = 0.4, d = 1e-4;
  const double slope = (expansion.cosmic_time(a + d) - expansion.cosmic_time(a - d)) / (2.0 * d);
  EXPECT_NEAR(slope * a * background.hubble(a), 1.0, 1e-7);
  EXPECT_NEAR(background.hubble(1.0), 1.0, 1e-14);
  const double numeric =
      std::log(background.hubble(a * (1 + d)) / background.hubble(a * (1 - d))) / (2.0 * d);
  EXPECT_NEAR(background.hubble_slope(a), numeric, 1e-7);
  // Long before equality radiation rules: H0 t = a^2 / (2 sqrt(omega_r)).
  EXPECT_NEAR(expansion.cosmic_time(1.0001e-5) / (0.5e-10 / std::sqrt(9e-5)), 1.0, 0.03);
}

TEST(Expansion, a_universe_without_matter_or_that_bounces_is_refused) {
  EXPECT_THROW(Expansion({.omega_m = 0.0, .omega_lambda = 1.0}), InputError);
  EXPECT_THROW(Expansion({.omega_m = 0.1, .omega_lambda = 3.0}), InputError);
}

TEST(Expansion, agrees_with_a_table_made_by_quadrature) {
  const std::string path = reference_path("ref/cosmology_Om0.3111_OL0.6889_h0.6766.csv");
  if (path.empty()) GTEST_SKIP() << "OCTANT_DATA names no folder with ref/cosmology_*.csv";
  std::ifstream file(path);
  const Expansion expansion(k_planck);
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#' || line[0] == 'a') continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    double a, z, hubble, time, gigayears, tau, d, d_over_today, rate;
    words >> a >> z >> hubble >> time >> gigayears >> tau >> d >> d_over_today >> rate;
    EXPECT_NEAR(k_planck.hubble(a) / hubble, 1.0, 1e-9);
    EXPECT_NEAR(expansion.cosmic_time(a) / time, 1.0, 1e-8);
    EXPECT_NEAR(expansion.supercomoving_time(a), tau, 1e-8 * (1.0 + std::abs(tau)));
    EXPECT_NEAR(expansion.growth(a).first / d_over_today, 1.0, 1e-7);
    EXPECT_NEAR(expansion.growth(a).first_rate, rate, 1e-6);
    ++rows;
  }
  EXPECT_GT(rows, 100);
}

TEST(SupercomovingUnits, give_the_mean_density_and_the_hubble_flow) {
  const Box box{.omega_m = 0.3111, .omega_b = 0.047, .h = 0.6766, .megaparsecs = 50.0};
  EXPECT_NEAR(critical_density(1.0) / 1.87834e-29, 1.0, 1e-5);
  const CodeUnits units = supercomoving_units(box, 0.1);
  EXPECT_NEAR(units.density() / (0.3111 * critical_density(0.6766) * 1e3), 1.0, 1e-14);
  EXPECT_NEAR(units.length / (5.0 / 0.6766 * 1e6 * constants::k_parsec), 1.0, 1e-14);
  // A length of the box in a time unit: H0 L / a.
  EXPECT_NEAR(units.velocity() / (100.0 * 50.0 * 1e5 / 0.1), 1.0, 1e-12);
}

}  // namespace
}  // namespace octant::cosmology
