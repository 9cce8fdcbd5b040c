#include "io/row_shuffle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/error.hpp"

namespace octant {
namespace {

// Rows 0 .. total - 1 dealt out at random to the ranks, each rank's in random order.
std::vector<std::int64_t> random_rows(const Communicator& world, int total, unsigned seed) {
  std::mt19937 random(seed);  // the same on every rank
  std::vector<std::int64_t> mine;
  for (int row = 0; row < total; ++row) {
    if (static_cast<int>(random() % static_cast<unsigned>(world.size())) == world.rank()) {
      mine.push_back(row);
    }
  }
  std::shuffle(mine.begin(), mine.end(), random);
  return mine;
}

// Two values that tell rows apart.
std::vector<double> values_of(const std::vector<std::int64_t>& rows) {
  std::vector<double> values;
  for (const std::int64_t row : rows) {
    values.push_back(0.5 * static_cast<double>(row));
    values.push_back(-static_cast<double>(row));
  }
  return values;
}

TEST(RowShuffle, writers_get_their_rows_in_order) {
  const Communicator world = Communicator::world();
  for (const int total : {0, 1, 3, 500}) {
    const auto mine = random_rows(world, total, 9);
    RowShuffle shuffle(world, mine);
    EXPECT_EQ(shuffle.total(), total);
    std::vector<std::int64_t> written;
    for (std::int64_t n = 0; n < shuffle.range().count; ++n) {
      written.push_back(shuffle.range().begin + n);
    }
    const auto values = values_of(mine);
    const auto at_writer = shuffle.to_writers(std::span<const double>(values), 2);
    EXPECT_EQ(at_writer, values_of(written));
  }
}

TEST(RowShuffle, rows_without_an_owner_or_with_two_are_errors_on_all_ranks) {
  const Communicator world = Communicator::world();
  const std::vector<std::int64_t> same(2, world.rank());
  EXPECT_THROW(RowShuffle(world, same), RunError);
  const std::vector<std::int64_t> beyond{world.rank() + 1};
  EXPECT_THROW(RowShuffle(world, beyond), RunError);
}

}  // namespace
}  // namespace octant
