#include "core/random.hpp"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace octant {
namespace {

void expect_block(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1,
                  PhiloxBlock expected) {
  const auto result = philox4x32_10(counter, key0, key1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(result.word[i], expected.word[i]) << "word " << i;
}

// The known answers that the authors of Philox publish with their library Random123.
TEST(Philox, gives_the_published_known_answers) {
  expect_block({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  expect_block({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, 0xffffffff, 0xffffffff,
               {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  expect_block({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
               {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

// 1e5 draws: the mean of a uniform number is known to 1/sqrt(12e5) = 9e-4, its variance to 2.4e-4.
TEST(RandomStream, uniform_numbers_fill_the_unit_interval_evenly) {
  const int count = 100000;
  double sum = 0.0, squares = 0.0;
  for (int key = 0; key < count; ++key) {
    const double value = RandomStream(7, static_cast<std::uint64_t>(key), 3).uniform(0);
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
    squares += value * value;
  }
  const double mean = sum / count;
  EXPECT_NEAR(mean, 0.5, 4 * 9e-4);
  EXPECT_NEAR(squares / count - mean * mean, 1.0 / 12.0, 4 * 2.4e-4);
}

// 1e5 pairs: mean to 3e-3, variance to 4.5e-3, correlation to 3e-3 (one sigma).
TEST(RandomStream, normal_pairs_are_independent_with_mean_0_and_variance_1) {
  const int count = 100000;
  double mean1 = 0.0, mean2 = 0.0, variance1 = 0.0, variance2 = 0.0, product = 0.0;
  const RandomStream stream(1, 2, 3);
  for (int draw = 0; draw < count; ++draw) {
    const auto pair = stream.normal_pair(static_cast<std::uint32_t>(draw));
    mean1 += pair.first / count;
    mean2 += pair.second / count;
    variance1 += pair.first * pair.first / count;
    variance2 += pair.second * pair.second / count;
    product += pair.first * pair.second / count;
  }
  EXPECT_NEAR(mean1, 0.0, 4 * 3.2e-3);
  EXPECT_NEAR(mean2, 0.0, 4 * 3.2e-3);
  EXPECT_NEAR(variance1, 1.0, 4 * 4.5e-3);
  EXPECT_NEAR(variance2, 1.0, 4 * 4.5e-3);
  EXPECT_NEAR(product, 0.0, 4 * 3.2e-3);
}

TEST(RandomStream, every_part_of_the_address_changes_the_number) {
  const std::uint64_t high = std::uint64_t{1} << 40;
  const std::set<double> values = {
      RandomStream(1, 1, 1).uniform(0),        RandomStream(2, 1, 1).uniform(0),
      RandomStream(1 + high, 1, 1).uniform(0), RandomStream(1, 2, 1).uniform(0),
      RandomStream(1, 1 + high, 1).uniform(0), RandomStream(1, 1, 2).uniform(0),
      RandomStream(1, 1, 1).uniform(1),        RandomStream(1, 1, 1).uniform(2)};
  EXPECT_EQ(values.size(), 8u);
  EXPECT_EQ(RandomStream(1, 1, 1).uniform(5), RandomStream(1, 1, 1).uniform(5));
}

}  // namespace
}  // namespace octant
