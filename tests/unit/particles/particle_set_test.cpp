#include "particles/particle_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

namespace octant::particles {
namespace {

TEST(particle_set, memory_is_given_back_when_most_particles_have_left) {
  ParticleSet set(0, 0);
  set.append(std::vector<Word>(1000 * set.row_words(), 0), std::vector<std::int32_t>(1000, 0));
  const std::int64_t before = set.bytes();
  std::vector<std::int32_t> leaving(900);
  std::iota(leaving.begin(), leaving.end(), 0);
  set.remove(leaving);
  set.sort_if_disordered(1);
  ASSERT_EQ(set.count(), 100);
  EXPECT_LT(set.bytes(), before / 5);
}

TEST(particle_set, rows_stay_whole_when_they_come_go_change_and_are_sorted) {
  ParticleSet set(2, 1);
  const int width = set.row_words(), count = 1000, homes = 7;
  const auto row_of = [&](std::uint64_t id, double scale) {
    std::vector<Word> row;
    for (int n = 0; n < k_real_columns + 2; ++n)
      row.push_back(std::bit_cast<Word>(scale * (static_cast<double>(id) + 0.01 * n)));
    row.push_back(static_cast<Word>(-static_cast<std::int64_t>(id)));
    row.push_back(id);
    return row;
  };
  std::vector<Word> words;
  std::vector<std::int32_t> slots;
  for (int id = 0; id < count; ++id) {
    const auto row = row_of(id, 1.0);
    words.insert(words.end(), row.begin(), row.end());
    slots.push_back(id % homes);
  }
  const std::size_t half = words.size() / 2;
  const auto first = slots.begin() + count / 2;
  set.append(std::span(words).first(half), {slots.begin(), first});
  set.append(std::span(words).subspan(half), {first, slots.end()});
  EXPECT_EQ(set.words(std::vector<std::int32_t>{7}), row_of(7, 1.0));
  set.overwrite({3, 900}, [&] {
    auto two = row_of(3, 2.0);
    const auto second = row_of(900, 2.0);
    two.insert(two.end(), second.begin(), second.end());
    return two;
  }());
  set.remove({0, 1, 500, 998});
  set.sort_if_disordered(homes);

  std::vector<std::int32_t> all(set.count());
  std::iota(all.begin(), all.end(), 0);
  const auto found = set.words(all);
  const auto found_homes = set.homes(all);
  ASSERT_EQ(all.size(), count - 4u);
  EXPECT_TRUE(std::ranges::is_sorted(found_homes));
  std::set<std::uint64_t> ids;
  for (const int n : all) {
    const auto row = std::span(found).subspan(std::size_t(n) * width, width);
    const std::uint64_t id = row.back();
    ids.insert(id);
    const auto expected = row_of(id, id == 3 || id == 900 ? 2.0 : 1.0);
    EXPECT_TRUE(std::ranges::equal(row, expected)) << id;
    EXPECT_EQ(found_homes[n], static_cast<int>(id % homes));
  }
  EXPECT_EQ(ids.size(), all.size());
  for (const int gone : {0, 1, 500, 998}) EXPECT_FALSE(ids.contains(gone));
}

}  // namespace
}  // namespace octant::particles
