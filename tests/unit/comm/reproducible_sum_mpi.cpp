#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "comm/reproducible_sum.hpp"

namespace octant {
namespace {

// The same list of terms on every rank; each term of it belongs to one of them.
std::vector<double> all_terms() {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> mantissa(-1.0, 1.0);
  std::uniform_int_distribution<int> exponent(-300, 300);
  std::vector<double> terms(5000);
  for (double& term : terms) term = std::ldexp(mantissa(random), exponent(random));
  return terms;
}

TEST(ReproducibleSumMpi, bits_do_not_depend_on_which_rank_holds_a_term) {
  const auto world = Communicator::world();
  const auto terms = all_terms();
  ReproducibleSum serial;
  for (const double term : terms) serial += term;

  std::mt19937 random(12);
  for (int repetition = 0; repetition < 5; ++repetition) {
    std::vector<double> mine;
    for (const double term : terms)
      if (static_cast<int>(random() % world.size()) == world.rank()) mine.push_back(term);
    EXPECT_EQ(reproducible_sum(world, mine), serial.to_double());
  }
}

TEST(ReproducibleSumMpi, several_sums_are_reduced_at_once) {
  const auto world = Communicator::world();
  std::vector<ReproducibleSum> sums(3);
  sums[0] += 1.0;
  sums[1] += world.is_root() ? std::nan("") : 0.0;
  sums[2] += -0.5 * world.rank();
  reproducible_sum(world, sums);
  EXPECT_EQ(sums[0].to_double(), world.size());
  EXPECT_TRUE(std::isnan(sums[1].to_double()));
  EXPECT_EQ(sums[2].to_double(), -0.25 * world.size() * (world.size() - 1));
}

TEST(ReproducibleSumMpi, integers_are_reduced_with_the_sums) {
  const auto world = Communicator::world();
  std::vector<ReproducibleSum> sums(1);
  sums[0] += 0.25;
  std::vector<std::int64_t> counts{1, -world.rank()};
  reproducible_sum(world, sums, counts);
  EXPECT_EQ(sums[0].to_double(), 0.25 * world.size());
  EXPECT_EQ(counts[0], world.size());
  EXPECT_EQ(counts[1], -world.size() * (world.size() - 1) / 2);
}

TEST(ReproducibleSumMpi, ranks_without_terms_take_part) {
  const auto world = Communicator::world();
  const std::vector<double> terms(world.is_root() ? 1 : 0, 0.1);
  EXPECT_EQ(reproducible_sum(world, terms), 0.1);
}

}  // namespace
}  // namespace octant
