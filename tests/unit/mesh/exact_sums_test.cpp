// Sums on the device: the bits of those on the host, whatever the terms are.
#include "mesh/exact_sums.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.hpp"

namespace octant::mesh::test {
namespace {

// Beside terms of another size, with which they have nothing in common.
double on_device(const std::vector<double>& terms) {
  const auto values = mesh::to_device("terms", terms);
  ReproducibleSum sum, other;
  add_terms<2>(
      {&other, &sum}, std::ssize(terms), {8.0, 0.0}, KOKKOS_LAMBDA(std::int64_t n) {
        return Kokkos::Array<double, 2>{static_cast<double>(n), values(n)};
      });
  const auto count = static_cast<double>(terms.size());
  EXPECT_EQ(other.to_double(), count * (count - 1.0) / 2.0);
  return sum.to_double();
}

double on_host(const std::vector<double>& terms) {
  ReproducibleSum sum;
  for (const double term : terms) sum += term;
  return sum.to_double();
}

// Of both signs, over some powers of two.
std::vector<double> terms_over(int powers, int exponent) {
  std::vector<double> terms;
  for (std::uint64_t n = 0; n < 5000; ++n) {
    const RandomStream random(4, n, powers);
    const int power = static_cast<int>(random.uniform(0) * powers);
    terms.push_back(std::ldexp(2.0 * random.uniform(1) - 1.0, exponent - power));
  }
  return terms;
}

TEST(ExactSums, have_the_bits_of_the_host_s) {
  for (const int powers : {1, 30, 80, 120, 300})  // the last one is left to the host
    for (const int exponent : {-790, -100, 0, 200, 900})
      EXPECT_EQ(on_device(terms_over(powers, exponent)), on_host(terms_over(powers, exponent)))
          << powers << " powers of two below 2^" << exponent;
}

TEST(ExactSums, keep_what_cancels) {
  EXPECT_EQ(on_device({1.0, 0x1p-100, -1.0}), 0x1p-100);
  EXPECT_EQ(on_device({1.0, 0x1p-200, -1.0}), 0x1p-200);  // below the last part
  EXPECT_EQ(on_device({1e300, 1e-300, -1e300}), 1e-300);
  EXPECT_EQ(on_device({}), 0.0);
  EXPECT_EQ(on_device({0.0, -0.0}), 0.0);
  EXPECT_TRUE(std::isnan(on_device({1.0, std::nan(""), 2.0})));
  EXPECT_EQ(on_device({1.0, -HUGE_VAL}), -HUGE_VAL);
}

}  // namespace
}  // namespace octant::mesh::test
