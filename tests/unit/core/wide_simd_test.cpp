// Lanes of wide vectors have the bits of scalar arithmetic.
#include "core/wide_simd.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "core/power.hpp"
#include "core/random.hpp"

namespace octant {
namespace {

using Wide = SimdTraits<WideDouble>;

// Numbers of both signs.
std::vector<double> mixed_numbers() {
  std::vector<double> all{0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 1e-200, -1e200};
  for (int n = 0; n < 1000; ++n) {
    const RandomStream stream(3, static_cast<std::uint64_t>(n), 0);
    all.push_back(2.0 * stream.uniform(0) - 1.0);
  }
  all.resize(all.size() / Wide::width * Wide::width);
  return all;
}

// Calls body(a, b, c) for packs of numbers, and expects scalar(a, b, c) in every lane of its
// result.
template <class Body>
void expect_lanes(const Body& body) {
  const std::vector<double> all = mixed_numbers();
  for (std::size_t n = 0; n + 3 * Wide::width <= all.size(); ++n) {
    const double* const at = all.data() + n;
    double found[Wide::width];
    Wide::store(found, body(Wide::load(at), Wide::load(at + Wide::width),
                            Wide::load(at + 2 * Wide::width)));
    for (int lane = 0; lane < Wide::width; ++lane) {
      const double a = at[lane], b = at[lane + Wide::width], c = at[lane + 2 * Wide::width];
      ASSERT_EQ(found[lane], body(a, b, c)) << a << ", " << b << ", " << c;
    }
  }
}

TEST(WideSimd, arithmetic_has_the_bits_of_scalars) {
  expect_lanes([](auto a, auto b, auto c) { return (a + b) * c - a / (c * c + decltype(a)(1.0)); });
  expect_lanes([](auto a, auto b, auto c) { return fused_multiply_add(a, -b, c); });
  expect_lanes([](auto a, auto b, auto c) { return square_root(absolute(a * b)) + max(a, c); });
}

TEST(WideSimd, comparisons_have_the_values_of_scalars) {
  expect_lanes([](auto a, auto b, auto c) { return select(a < b, min(b, c), max(a, c)); });
  expect_lanes([](auto a, auto b, auto c) { return select(a > b, c, -c); });
  expect_lanes([](auto a, auto b, auto c) { return select(a <= b && !(b >= c), a, c); });
  expect_lanes([](auto a, auto b, auto c) { return select(a == b || c <= a, b, c); });
  EXPECT_FALSE(any(WideDouble(1.0) < WideDouble(1.0)));
  for (int lane = 0; lane < Wide::width; ++lane)
    EXPECT_TRUE(
        any(Wide::generate([&](int n) { return n == lane ? 2.0 : 0.0; }) > WideDouble(1.0)));
}

TEST(WideSimd, powers_have_the_bits_of_scalars) {
  expect_lanes([](auto a, auto b, auto) { return power(absolute(a), 0.7) + b; });
}

TEST(WideSimd, smaller_and_larger_values_treat_nan_as_scalars) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(Wide::lane(min(WideDouble(nan), WideDouble(1.0)), 0)));
  EXPECT_EQ(Wide::lane(min(WideDouble(1.0), WideDouble(nan)), 0), 1.0);
  EXPECT_TRUE(std::isnan(Wide::lane(max(WideDouble(nan), WideDouble(1.0)), 0)));
  EXPECT_EQ(Wide::lane(max(WideDouble(1.0), WideDouble(nan)), 0), 1.0);
}

TEST(WideSimd, transposes_squares) {
  constexpr int size = 4, row = 7, other_row = 5;
  double from[size * row], to[size * other_row] = {};
  for (int n = 0; n < size * row; ++n) from[n] = n;
  transpose_square(from, row, to, other_row);
  for (int r = 0; r < size; ++r) {
    for (int c = 0; c < size; ++c) EXPECT_EQ(to[c * other_row + r], from[r * row + c]);
    EXPECT_EQ(to[r * other_row + size], 0.0);
  }
}

}  // namespace
}  // namespace octant
