// Efficiencies of star formation and Poisson numbers: closed forms, statistics, reference tables.
#include <cmath>
#include <cstdint>
#include <map>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "core/units.hpp"
#include "subgrid/poisson.hpp"
#include "subgrid/star_formation/efficiency.hpp"
#include "tests/unit/subgrid/reference_table.hpp"

namespace octant::subgrid {
namespace {

constexpr double k_million_years = 1e6 * constants::k_year;

double poisson_probability(int count, double mean) {
  return std::exp(count * std::log(mean) - mean - std::lgamma(count + 1.0));
}

std::vector<std::int64_t> draw_numbers(double mean, int number, std::uint64_t seed) {
  std::vector<std::int64_t> counts(number);
  for (int n = 0; n < number; ++n)
    counts[n] = poisson(RandomStream(seed, static_cast<std::uint64_t>(n), 7), 0, mean);
  return counts;
}

class PoissonOfMean : public testing::TestWithParam<double> {};

TEST_P(PoissonOfMean, counts_are_distributed_as_they_should) {
  const double mean = GetParam();
  const int number = 200'000;
  std::map<std::int64_t, double> found;
  for (const std::int64_t count : draw_numbers(mean, number, 1)) ++found[count];
  // Pearson's test, with rare counts taken together.
  double chi_squared = 0.0, expected = 0.0, observed = 0.0, left = number;
  int bins = 0;
  for (int count = 0; left - expected > 20.0; ++count) {
    expected += number * poisson_probability(count, mean);
    observed += found[count];
    if (expected < 20.0) continue;
    chi_squared += (observed - expected) * (observed - expected) / expected;
    left -= expected;
    expected = observed = 0.0;
    ++bins;
  }
  // Within four standard deviations of the mean of chi squared.
  EXPECT_NEAR(chi_squared, bins, 4.0 * std::sqrt(2.0 * bins) + 2.0);
  EXPECT_GE(bins, mean < 0.1 ? 2 : 4);
}

TEST(Poisson, probabilities_are_those_of_the_closed_form) {
  for (const double mean : {31.0, 100.0, 3000.0})
    for (int count = 10; count < 2 * mean; ++count) {
      const double expected = poisson_probability(count, mean);
      EXPECT_NEAR(std::exp(detail::log_poisson_probability(count, mean)), expected,
                  1e-9 * expected + 1e-300)
          << count << " of " << mean;
    }
}

TEST_P(PoissonOfMean, mean_and_variance_are_equal) {
  const double mean = GetParam();
  const int number = 200'000;
  double sum = 0.0, squares = 0.0;
  for (const std::int64_t count : draw_numbers(mean, number, 2)) {
    const double beyond = static_cast<double>(count) - mean;
    sum += beyond;
    squares += beyond * beyond;
  }
  EXPECT_NEAR(sum / number, 0.0, 4.0 * std::sqrt(mean / number));
  EXPECT_NEAR(squares / number, mean, 4.0 * std::sqrt((mean + 2.0 * mean * mean) / number));
}

// In cells beside each other along any axis, whose places are 21 bits of a key each.
TEST_P(PoissonOfMean, neighbours_and_seeds_are_independent) {
  const double mean = GetParam();
  constexpr int n = 64, cells = n * n * n;
  const auto draw = [&](std::uint64_t seed) {
    std::vector<std::int64_t> counts;
    for (std::uint64_t x = 0; x < n; ++x)
      for (std::uint64_t y = 0; y < n; ++y)
        for (std::uint64_t z = 0; z < n; ++z)
          counts.push_back(poisson(RandomStream(seed, x << 42 | y << 21 | z, 7), 0, mean));
    return counts;
  };
  const auto counts = draw(3), others = draw(4);
  const auto correlation = [&](const std::vector<std::int64_t>& one,
                               const std::vector<std::int64_t>& two, int distance) {
    double sum = 0.0;
    for (int c = 0; c < cells; ++c)
      sum += (static_cast<double>(one[c]) - mean) *
             (static_cast<double>(two[(c + distance) % cells]) - mean);
    return sum / (cells * mean);
  };
  for (const int distance : {1, n, n * n})
    EXPECT_LT(std::abs(correlation(counts, counts, distance)), 0.01) << distance;
  EXPECT_LT(std::abs(correlation(counts, others, 0)), 0.01);
  EXPECT_EQ(counts, draw(3));
}

// Both methods, also where they meet.
INSTANTIATE_TEST_SUITE_P(Means, PoissonOfMean,
                         testing::Values(0.01, 0.5, 5.0, 29.9, 30.1, 50.0, 1e4));

TEST(Poisson, numbers_of_largest_means_scatter_as_they_should) {
  constexpr double mean = 1e15;
  const int number = 200'000;
  double squares = 0.0, fourths = 0.0;  // of standard deviations
  for (const std::int64_t count : draw_numbers(mean, number, 5)) {
    const double square = std::pow(static_cast<double>(count) - mean, 2) / mean;
    squares += square;
    fourths += square * square;
  }
  EXPECT_NEAR(squares / number, 1.0, 4.0 * std::sqrt(2.0 / number));
  EXPECT_NEAR(fourths / number, 3.0, 4.0 * std::sqrt(96.0 / number));
}

TEST(Poisson, nothing_is_expected_of_nothing) {
  EXPECT_EQ(poisson(RandomStream(1, 2, 3), 0, 0.0), 0);
  EXPECT_EQ(poisson(RandomStream(1, 2, 3), 0, -1.0), 0);
}

TEST(StarFormation, padoans_efficiency_falls_with_turbulence) {
  // t_dyn = dx / (2 * 5) = 1 for these speeds.
  EXPECT_DOUBLE_EQ(padoan_efficiency(0.5, 10.0, 3.0, 4.0), std::exp(-0.8));
}

TEST(StarFormation, bound_gas_alone_forms_stars_in_some_models) {
  EXPECT_EQ(hopkins_efficiency(1.0, 2.0, 2.51, 1.0), 1.0);
  EXPECT_EQ(hopkins_efficiency(1.0, 2.0, 2.49, 1.0), 0.0);
  EXPECT_EQ(virial_efficiency(0.9, -1.0), 1.0);
  EXPECT_EQ(virial_efficiency(1.1, -1.0), 0.0);
  EXPECT_EQ(virial_efficiency(0.9, 1.0), 0.0);
  EXPECT_DOUBLE_EQ(virial_parameter(2.0, 3.0, 0.5, 7.0),
                   20.0 / (std::numbers::pi * 7.0 * 3.0 * 0.25));
}

TEST(StarFormation, the_pressure_law_gives_kennicutts_relation) {
  using namespace constants;
  // Gas of 10 Msun pc^-2 that carries its own weight: gamma P = G Sigma^2.
  const double surface_density = 10.0 * k_solar_mass / (k_parsec * k_parsec), gamma = 5.0 / 3.0;
  const double pressure = k_gravitational * surface_density * surface_density / gamma;
  const double rate = pressure_law_rate({}, gamma, pressure);
  const double kennicutt = 1.515e-4 * std::pow(10.0, 1.4);  // Msun yr^-1 kpc^-2
  EXPECT_NEAR(rate * 10.0 * 1e6 * k_year / kennicutt, 1.0, 1e-12);
  EXPECT_NEAR(pressure_law_threshold(0.002), 0.1, 1e-15);
  EXPECT_EQ(pressure_law_threshold(0.0), 10.0);
}

TEST(GalaxyStarFormation, multi_freefall_efficiencies_are_those_of_the_table) {
  const auto rows = reference_table("galaxy/sf_multi_freefall.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  for (const ReferenceRow& row : *rows) {
    const TurbulentGas gas{row.number("alpha_vir"), row.number("mach")};
    EXPECT_NEAR(log_density_variance(gas.mach) / row.number("sigma_s2"), 1.0, 1e-6);
    EXPECT_NEAR(critical_density_krumholz_mckee(gas), row.number("s_crit_KM"), 1e-6);
    EXPECT_NEAR(critical_density_padoan_nordlund(gas), row.number("s_crit_PN"), 1e-6);
    EXPECT_NEAR(multi_freefall_krumholz_mckee(gas) / row.number("eff_KM"), 1.0, 1e-6);
    EXPECT_NEAR(multi_freefall_padoan_nordlund(gas) / row.number("eff_PN"), 1.0, 1e-6);
  }
}

TEST(GalaxyStarFormation, rates_and_means_are_those_of_the_table) {
  const auto rows = reference_table("galaxy/sf_poisson.csv");
  if (!rows) GTEST_SKIP() << "OCTANT_DATA names no folder with galaxy/";
  // The constants that the table was made with.
  constexpr double k_gravity = 6.67408e-8, k_nucleus = 1.660539e-24, k_hydrogen_fraction = 0.76;
  for (const ReferenceRow& row : *rows) {
    const double dx = row.number("dx_pc") * constants::k_parsec;
    const double density = row.number("n_H") * k_nucleus / k_hydrogen_fraction;
    const double gas_mass = density * dx * dx * dx / constants::k_solar_mass;
    const double time = free_fall_time(density, k_gravity);
    const double mean =
        mean_of_quanta(row.number("eps"), gas_mass, time, row.number("m_star"), k_million_years);
    EXPECT_NEAR(time / k_million_years / row.number("t_ff_Myr"), 1.0, 1e-6);
    EXPECT_NEAR(gas_mass / row.number("M_gas"), 1.0, 1e-6);
    EXPECT_NEAR(mean * row.number("m_star") / 1e6 / row.number("SFR"), 1.0, 1e-6);
    EXPECT_NEAR(mean / row.number("lambda_1Myr"), 1.0, 1e-6);
    EXPECT_NEAR(std::exp(-mean) / row.number("P0"), 1.0, 1e-6 * (1.0 + mean));
  }
}

}  // namespace
}  // namespace octant::subgrid
