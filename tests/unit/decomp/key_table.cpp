#include "decomp/key_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <unordered_map>

namespace octant {
namespace {

TEST(KeyTable, agrees_with_a_reference_map_through_random_insertions_and_removals) {
  std::mt19937_64 random(7);
  KeyTable<int> table;
  std::unordered_map<std::uint64_t, int> reference;
  for (int n = 0; n < 200000; ++n) {
    const std::uint64_t key = random() % 3000;
    if (random() % 3 == 0) {
      EXPECT_EQ(table.erase(key), reference.erase(key) == 1);
    } else {
      table.insert(key, n);
      reference[key] = n;
    }
  }
  ASSERT_EQ(table.size(), reference.size());
  for (std::uint64_t key = 0; key < 3000; ++key) {
    const auto expected = reference.find(key);
    const int* found = table.find(key);
    ASSERT_EQ(found != nullptr, expected != reference.end()) << key;
    if (found) {
      EXPECT_EQ(*found, expected->second);
    }
  }
}

TEST(KeyTable, iteration_visits_every_entry_once) {
  KeyTable<int> table;
  for (int n = 0; n < 100; ++n) table.insert(static_cast<Key>(n) << 30, n);
  int visits = 0, sum = 0;
  for (const auto& [key, value] : table) {
    EXPECT_TRUE(key == static_cast<Key>(value) << 30);
    ++visits;
    sum += value;
  }
  EXPECT_EQ(visits, 100);
  EXPECT_EQ(sum, 4950);
}

TEST(KeyTable, stays_below_seventy_percent_full) {
  KeyTable<int> table;
  for (int n = 0; n < 5000; ++n) {
    table.insert(static_cast<Key>(n), n);
    ASSERT_LE(10 * table.size(), 7 * table.capacity());
  }
  EXPECT_EQ(table.size_bytes(), table.capacity() * sizeof(KeyTable<int>::Entry));
}

TEST(KeyTable, an_empty_table_holds_nothing_and_no_memory) {
  KeyTable<int> table;
  EXPECT_EQ(table.find(3), nullptr);
  EXPECT_FALSE(table.erase(3));
  EXPECT_EQ(table.size_bytes(), 0u);
  EXPECT_TRUE(table.begin() == table.end());
  table.insert(3, 4);
  table.clear();
  EXPECT_FALSE(table.contains(3));
  EXPECT_EQ(table.size_bytes(), 0u);
}

TEST(KeyTable, reserving_avoids_moving_entries) {
  KeyTable<int> table;
  table.reserve(1000);
  table.insert(0, 1);
  const int* first = table.find(0);
  for (int n = 1; n < 1000; ++n) table.insert(static_cast<Key>(n), n);
  EXPECT_EQ(table.find(0), first);
}

// Mean length of the runs of filled slots that a look-up has to walk through.
double mean_run_length(const KeyTable<int>& table) {
  std::size_t runs = 0;
  const KeyTable<int>::Entry* previous = nullptr;
  for (const auto& entry : table) {
    runs += !previous || &entry != previous + 1;
    previous = &entry;
  }
  return static_cast<double>(table.size()) / static_cast<double>(runs);
}

// Blocks of a deep level gather in a few clumps whose places differ in the highest bits alone.
// Random hashing at a filling a gives runs of mean length about 1 / (1 - a)^2; a bad hash gives
// hundreds.
TEST(KeyTable, clumps_of_deep_blocks_spread_over_the_table) {
  KeyTable<int> table;
  const BlockCoordinate far = k_key_coordinate_end / 2;
  for (int clump = 0; clump < 8; ++clump) {
    for (BlockCoordinate n = 0; n < 32 * 32 * 32; ++n) {
      const BlockCoordinates c{(clump & 1) * far + n % 32, (clump >> 1 & 1) * far + n / 32 % 32,
                               (clump >> 2) * far + n / 1024};
      table.insert(morton_encode(c), static_cast<int>(n));
    }
  }
  const double filling = static_cast<double>(table.size()) / static_cast<double>(table.capacity());
  EXPECT_LT(mean_run_length(table), 3.0 / std::pow(1.0 - filling, 2));
}

}  // namespace
}  // namespace octant
