// Exact sums of terms that many threads add.
#include "comm/parallel_sums.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace octant {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;

// Adds each term to sum 0, and its negative to sum 1.
struct AddTerms {
  const double* terms;
  TermAdder sums;
  KOKKOS_FUNCTION void operator()(int n) const {
    sums.add(0, n, terms[n]);
    sums.add(1, n / 3, -terms[n]);
  }
};

std::array<ReproducibleSum, 2> sums_of(const std::vector<double>& terms) {
  ParallelSums<Space> parallel(2);
  std::array<ReproducibleSum, 2> sums;
  Kokkos::parallel_for("terms", Kokkos::RangePolicy<Space>(0, terms.size()),
                       AddTerms{terms.data(), parallel.begin()});
  parallel.end(sums);
  return sums;
}

TEST(ParallelSums, are_those_of_ReproducibleSum) {
  std::mt19937_64 random(5);
  std::vector<double> terms;
  while (terms.size() < 2000) {
    const auto term = std::bit_cast<double>(random());
    if (std::isfinite(term)) terms.push_back(term * 0x1p-20);
  }
  terms.push_back(std::numeric_limits<double>::denorm_min());
  ReproducibleSum expected;
  for (const double term : terms) expected += term;
  EXPECT_EQ(sums_of(terms)[0].to_double(), expected.to_double());
  EXPECT_EQ(sums_of(terms)[1].to_double(), -expected.to_double());
}

TEST(ParallelSums, lose_nothing_to_cancellation) {
  EXPECT_EQ(sums_of({1e300, 1.0, -1e300})[0].to_double(), 1.0);
  EXPECT_EQ(sums_of({})[0].to_double(), 0.0);
}

TEST(ParallelSums, begin_with_nothing_every_time) {
  ParallelSums<Space> parallel(1);
  ReproducibleSum first, second;
  parallel.begin().add(0, 0, 3.0);
  parallel.end(std::span(&first, 1));
  parallel.begin().add(0, 1, -0.5);
  parallel.end(std::span(&second, 1));
  EXPECT_EQ(first.to_double(), 3.0);
  EXPECT_EQ(second.to_double(), -0.5);
}

TEST(ParallelSums, tell_of_terms_that_are_not_finite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(sums_of({1.0, infinity})[0].to_double(), infinity);
  EXPECT_EQ(sums_of({1.0, infinity})[1].to_double(), -infinity);
  EXPECT_TRUE(std::isnan(sums_of({infinity, -infinity})[0].to_double()));
  EXPECT_TRUE(std::isnan(sums_of({2.0, std::nan("")})[0].to_double()));
}

}  // namespace
}  // namespace octant
