#include "core/units.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/clock.hpp"
#include "core/memory.hpp"

namespace octant {
namespace {

TEST(Constants, agree_with_the_relations_between_them) {
  using namespace constants;
  EXPECT_NEAR(k_parsec / (648000.0 * k_astronomical_unit / M_PI), 1.0, 1e-14);
  EXPECT_NEAR(k_radiation / (4.0 * k_stefan_boltzmann / k_speed_of_light), 1.0, 1e-9);
  EXPECT_NEAR(k_solar_mass * k_gravitational / 1.3271244e26, 1.0, 1e-12);  // IAU 2015 B3
  const double kt_over_h = k_boltzmann / (k_planck * k_speed_of_light);
  const double sigma = 2.0 * std::pow(M_PI, 5) / 15.0 * k_boltzmann * k_speed_of_light * kt_over_h *
                       kt_over_h * kt_over_h;
  EXPECT_NEAR(k_stefan_boltzmann / sigma, 1.0, 1e-9);
}

TEST(CodeUnits, sound_speed_of_hydrogen_at_ten_thousand_kelvin_comes_out_right) {
  const CodeUnits units{.length = constants::k_parsec,
                        .mass = constants::k_solar_mass,
                        .time = 1e6 * constants::k_year};
  // P / rho = k T / m_p = (9.085 km/s)^2 for atomic hydrogen at 1e4 K.
  const double specific = std::pow(9.085e5 / units.velocity(), 2);
  EXPECT_NEAR(specific * units.temperature(), 1e4, 2.0);
  EXPECT_NEAR(units.energy_density() / (units.energy() / std::pow(units.length, 3)), 1.0, 1e-14);
}

TEST(MemoryUse, counts_pages_that_were_touched) {
  const auto before = memory_use();
  const std::int64_t size = 64 << 20;
  const std::vector<char> touched(static_cast<std::size_t>(size), 1);
  const auto during = memory_use();
  EXPECT_EQ(touched.back(), 1);
  EXPECT_GE(during.current - before.current, size * 9 / 10);
  EXPECT_GE(during.peak, during.current);
}

TEST(Clock, restarts_from_zero) {
  Clock clock;
  while (clock.seconds() < 0.002) {
  }
  EXPECT_GE(clock.restart(), 0.002);
  EXPECT_LT(clock.seconds(), 0.002);
}

}  // namespace
}  // namespace octant
