// Opacities as functions of density and temperature.
#include <gtest/gtest.h>

#include <cmath>

#include "radiation/opacity.hpp"

namespace octant::radiation::test {
namespace {

TEST(Opacity, is_zero_unless_set) {
  const Opacity opacity;
  EXPECT_EQ(opacity.absorption(2.0, 3.0), 0.0);
  EXPECT_EQ(opacity.extinction(2.0, 3.0), 0.0);
}

TEST(Opacity, is_the_given_constant_per_mass_at_any_density_and_temperature) {
  const Opacity opacity = Opacity::constant(0.5, 0.25, 4.0);
  for (const double rho : {1e-8, 1.0, 3e5})
    for (const double T : {1e-3, 1.0, 1e9}) {
      EXPECT_EQ(opacity.absorption(rho, T), 0.5 * rho);
      EXPECT_EQ(opacity.extinction(rho, T), 4.25 * rho);
    }
}

TEST(Opacity, follows_a_power_law_of_density_and_temperature) {
  const Opacity opacity = Opacity::power_law(0.5, 0.125, 3.0, 7.0, 0.75, -1.5);
  for (const double rho : {1e-4, 3.0, 2e5})
    for (const double T : {1e-3, 7.0, 1e6}) {
      const double growth = std::pow(rho / 3.0, 0.75) * std::pow(T / 7.0, -1.5);
      EXPECT_NEAR(opacity.absorption(rho, T) / (0.5 * growth * rho), 1.0, 1e-14);
      EXPECT_NEAR(opacity.extinction(rho, T) / (0.125 * growth * rho), 1.0, 1e-14);
    }
}

TEST(Opacity, follows_kramers_law) {
  const Opacity opacity = Opacity::kramers(0.5, 0.125, 3.0, 7.0);
  EXPECT_DOUBLE_EQ(opacity.absorption(3.0, 7.0), 1.5);
  EXPECT_DOUBLE_EQ(opacity.absorption(6.0, 7.0), 6.0);
  EXPECT_DOUBLE_EQ(opacity.extinction(3.0, 28.0), 0.375 / 128.0);
}

TEST(Opacity, stays_between_floor_and_ceiling) {
  const Opacity opacity = Opacity::power_law(1.0, 1.0, 1.0, 1.0, 0.0, -3.5, 0.01, 50.0, 2.0);
  EXPECT_EQ(opacity.absorption(1.0, 1e-3), 50.0);
  EXPECT_EQ(opacity.absorption(1.0, 1e3), 0.01);
  EXPECT_EQ(opacity.extinction(2.0, 1e3), 4.02);
  EXPECT_NEAR(opacity.absorption(1.0, 2.0), std::pow(2.0, -3.5), 1e-16);
}

TEST(Opacity, has_the_slope_of_its_logarithm_and_none_at_floor_and_ceiling) {
  const OpacityAtDensity<double> law =
      OpacityLaw{1.0, 1.0, -3.5, 1.0, 1.0, 0.01, 50.0}.at_density(2.0);
  EXPECT_EQ(law.evaluate(1.0).exponent, -3.5);
  EXPECT_EQ(law.evaluate(1e-3).exponent, 0.0);
  EXPECT_EQ(law.evaluate(1e3).exponent, 0.0);
}

}  // namespace
}  // namespace octant::radiation::test
