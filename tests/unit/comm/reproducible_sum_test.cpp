#include "comm/reproducible_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace octant {
namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();
constexpr double k_largest = std::numeric_limits<double>::max();
constexpr double k_subnormal = std::numeric_limits<double>::denorm_min();

double sum_of(const std::vector<double>& terms) {
  ReproducibleSum sum;
  for (const double term : terms) sum += term;
  return sum.to_double();
}

// Terms of all sizes and signs.
std::vector<double> random_terms(int count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> terms;
  while (static_cast<int>(terms.size()) < count) {
    const auto term = std::bit_cast<double>(random());
    if (std::isfinite(term)) terms.push_back(term * 0x1p-20);
  }
  return terms;
}

TEST(ReproducibleSum, a_single_term_comes_back_unchanged) {
  for (const double term :
       {0.0, 1.0, -1.0, 0.1, -1e-300, k_subnormal, -3 * k_subnormal, k_largest, -k_largest,
        std::numeric_limits<double>::min(), 0x1.fffffffffffffp-1022})
    EXPECT_EQ(sum_of({term}), term);
  for (const double term : random_terms(1000, 1)) EXPECT_EQ(sum_of({term}), term);
}

TEST(ReproducibleSum, order_of_the_terms_does_not_matter) {
  auto terms = random_terms(500, 2);
  const double expected = sum_of(terms);
  std::mt19937 random(3);
  for (int n = 0; n < 20; ++n) {
    std::shuffle(terms.begin(), terms.end(), random);
    EXPECT_EQ(sum_of(terms), expected);
  }
}

TEST(ReproducibleSum, nothing_is_lost_to_cancellation) {
  auto terms = random_terms(500, 4);
  const auto count = terms.size();
  for (std::size_t n = 0; n < count; ++n) terms.push_back(-terms[n]);
  terms.push_back(k_subnormal);
  EXPECT_EQ(sum_of(terms), k_subnormal);
  EXPECT_EQ(sum_of({1e300, 1.0, -1e300}), 1.0);
  EXPECT_EQ(sum_of({k_largest, k_largest, -k_largest}), k_largest);
}

TEST(ReproducibleSum, pairs_are_rounded_as_the_processor_rounds_them) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  std::uniform_int_distribution<int> exponent(-60, 60);
  for (int n = 0; n < 10000; ++n) {
    const double a = std::ldexp(mantissa(random), exponent(random));
    const double b = std::ldexp(mantissa(random), exponent(random));
    EXPECT_EQ(sum_of({a, b}), a + b);
  }
}

TEST(ReproducibleSum, halves_round_to_even_unless_something_follows) {
  EXPECT_EQ(sum_of({1.0, 0x1p-53}), 1.0);
  EXPECT_EQ(sum_of({1.0 + 0x1p-52, 0x1p-53}), 1.0 + 0x1p-51);
  EXPECT_EQ(sum_of({1.0, 0x1p-53, 0x1p-300}), 1.0 + 0x1p-52);
  EXPECT_EQ(sum_of({1.0, 0x1p-53, -0x1p-300}), 1.0);
}

TEST(ReproducibleSum, agrees_with_long_double_where_that_is_exact) {
  std::mt19937_64 random(6);
  std::uniform_int_distribution<std::int64_t> integer(-(1LL << 40), 1LL << 40);
  std::vector<double> terms;
  long double exact = 0.0L;
  for (int n = 0; n < 100000; ++n) {
    terms.push_back(static_cast<double>(integer(random)) * 0x1p-20);
    exact += static_cast<long double>(terms.back());
  }
  EXPECT_EQ(sum_of(terms), static_cast<double>(exact));
}

TEST(ReproducibleSum, merged_sums_equal_the_sum_of_all_terms) {
  const auto terms = random_terms(300, 7);
  ReproducibleSum parts[3], all;
  for (std::size_t n = 0; n < terms.size(); ++n) parts[n % 3] += terms[n];
  for (const auto& part : parts) all += part;
  EXPECT_EQ(all.to_double(), sum_of(terms));
}

TEST(ReproducibleSum, merged_sums_keep_terms_that_are_not_finite) {
  for (const double term : {k_infinity, -k_infinity}) {
    ReproducibleSum part, all;
    part += term;
    all += 1.0;
    all += part;
    EXPECT_EQ(all.to_double(), term);
  }
  ReproducibleSum part, all;
  part += std::nan("");
  all += part;
  EXPECT_TRUE(std::isnan(all.to_double()));
}

TEST(ReproducibleSum, sums_beyond_the_largest_double_are_infinite) {
  EXPECT_EQ(sum_of({k_largest, k_largest}), k_infinity);
  EXPECT_EQ(sum_of({-k_largest, -k_largest}), -k_infinity);
  const double half_last_digit = 0x1p970;
  EXPECT_EQ(sum_of({k_largest, half_last_digit}), k_infinity);
  EXPECT_EQ(sum_of({k_largest, half_last_digit, -k_subnormal}), k_largest);
}

TEST(ReproducibleSum, nan_and_infinities_show) {
  EXPECT_TRUE(std::isnan(sum_of({1.0, std::nan(""), k_infinity})));
  EXPECT_TRUE(std::isnan(sum_of({k_infinity, 1.0, -k_infinity})));
  EXPECT_EQ(sum_of({1.0, k_infinity, -k_largest}), k_infinity);
  EXPECT_EQ(sum_of({1.0, -k_infinity}), -k_infinity);
}

}  // namespace
}  // namespace octant
