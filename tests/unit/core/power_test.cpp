// Powers of packs are those of the library, but for rounding, and the same in every lane.
#include "core/power.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace octant {
namespace {

const std::vector<double> k_exponents{0.4, 2.0 / 3.0, 1.0 / 3.0, 1.4, 5.0 / 3.0, -0.7, 7.25, 0.0};

// Positive normal numbers of all sizes whose powers here are normal, too; and close to one.
std::vector<double> numbers() {
  std::vector<double> all{
      1.0,           2.0, 0.5, std::nextafter(1.0, 2.0), std::nextafter(1.0, 0.0), std::sqrt(0.5),
      std::sqrt(2.0)};
  for (int n = 0; n < 20000; ++n) {
    const RandomStream stream(1, static_cast<std::uint64_t>(n), 0);
    all.push_back(std::exp2(260.0 * stream.uniform(0) - 130.0));
    all.push_back(0.5 + stream.uniform(1));
  }
  return all;
}

TEST(Power, is_that_of_the_library_but_for_rounding) {
  for (const double exponent : k_exponents)
    for (const double a : numbers()) {
      const auto exact = static_cast<double>(powl(a, exponent));
      ASSERT_NEAR(power(a, exponent) / exact, 1.0, 4e-16 * std::max(1.0, std::abs(exponent)))
          << a << " to the " << exponent;
    }
}

TEST(Power, of_what_is_not_normal_is_that_of_the_library) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double a : {0.0, -0.0, inf, 1e-310, 1e-300, 1e300, -3.0})
    for (const double exponent : {0.4, -0.4, 2.0, 1.4}) {
      const double expected = std::pow(a, exponent), found = power(a, exponent);
      if (std::isnan(expected)) EXPECT_TRUE(std::isnan(found)) << a << " to the " << exponent;
      else if (std::isfinite(expected) && expected != 0.0)
        EXPECT_NEAR(found / expected, 1.0, 1e-15) << a << " to the " << exponent;
      else EXPECT_EQ(found, expected) << a << " to the " << exponent;
    }
  EXPECT_TRUE(std::isnan(power(std::nan(""), 0.4)));
}

TEST(Power, has_the_same_bits_in_every_lane_and_beside_any_neighbour) {
  using P = SimdTraits<SimdDouble>;
  const std::vector<double> neighbours{1.5, -1.0, 0.0, 3e-309};
  for (const double exponent : k_exponents)
    for (const double a : numbers())
      for (int lane = 0; lane < P::width; ++lane) {
        const SimdDouble mixed = P::generate(
            [&](int n) { return n == lane ? a : neighbours[static_cast<std::size_t>(n)]; });
        ASSERT_EQ(P::lane(power(mixed, exponent), lane), power(a, exponent))
            << a << " to the " << exponent;
        ASSERT_EQ(P::lane(power(SimdDouble(a), exponent), lane), power(a, exponent));
      }
}

}  // namespace
}  // namespace octant
