#include "decomp/key_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "core/error.hpp"

namespace octant {
namespace {

// Different keys in ascending order, the same on every rank, many of them in one clump.
std::vector<Key> all_keys(int count) {
  std::mt19937_64 random(5);
  std::set<Key> keys;
  while (static_cast<int>(keys.size()) < count) {
    keys.insert(random() % 3 == 0 ? random() >> 2 : 1000000 + random() % 10000);
  }
  return {keys.begin(), keys.end()};
}

TEST(KeyOrder, rows_count_the_smaller_keys_of_all_ranks) {
  const Communicator world = Communicator::world();
  const auto keys = all_keys(5000);
  for (const unsigned seed : {1u, 2u}) {
    std::mt19937 random(seed);  // the same on every rank
    std::vector<Key> mine;
    std::vector<std::int64_t> expected;
    for (std::size_t n = 0; n < keys.size(); ++n) {
      if (static_cast<int>(random() % static_cast<unsigned>(world.size())) != world.rank())
        continue;
      mine.push_back(keys[n]);
      expected.push_back(static_cast<std::int64_t>(n));
    }
    std::reverse(mine.begin(), mine.end());
    std::reverse(expected.begin(), expected.end());
    EXPECT_EQ(rows_in_key_order(world, mine), expected);
  }
}

TEST(KeyOrder, ranks_without_keys_and_levels_without_keys_are_legal) {
  const Communicator world = Communicator::world();
  EXPECT_TRUE(rows_in_key_order(world, {}).empty());
  std::vector<Key> mine;
  if (world.rank() == world.size() - 1) mine = {7, 0, 3};
  const std::vector<std::int64_t> expected{2, 0, 1};
  const auto rows = rows_in_key_order(world, mine);
  if (!mine.empty()) {
    EXPECT_EQ(rows, expected);
  }
}

TEST(KeyOrder, a_key_on_two_ranks_is_an_error_on_all) {
  const Communicator world = Communicator::world();
  std::vector<Key> mine{static_cast<Key>(10 + world.rank())};
  if (world.rank() == world.size() - 1) mine.push_back(10);
  EXPECT_THROW(rows_in_key_order(world, mine), RunError);
}

}  // namespace
}  // namespace octant
