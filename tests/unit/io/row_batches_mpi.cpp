#include "io/row_shuffle.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

// Rows 0 .. total - 1 dealt out at random to the ranks.
std::vector<std::int64_t> random_rows(const Communicator& world, std::int64_t total) {
  std::vector<std::int64_t> mine;
  for (std::int64_t row = total - 1; row >= 0; --row) {
    const auto owner = static_cast<int>((row * 7919 / 3) % world.size());
    if (owner == world.rank()) mine.push_back(row);
  }
  return mine;
}

TEST(RowBatches, bring_every_row_to_its_writer_once_in_pieces_of_the_given_size) {
  const Communicator world = Communicator::world();
  for (const std::int64_t total : {0, 1, 2, 5, 12, 97}) {
    for (const std::int64_t size : {1, 3, 16, 1000}) {
      const auto mine = random_rows(world, total);
      const RowRange whole = even_share(total, world.rank(), world.size());
      std::int64_t next = whole.begin;
      for (RowBatch& batch : row_batches(world, mine, size)) {
        EXPECT_EQ(batch.range.begin, next);
        EXPECT_LE(batch.range.count, size);
        std::vector<std::int64_t> rows;
        for (const std::int64_t n : batch.own) rows.push_back(mine[static_cast<std::size_t>(n)]);
        const auto written = batch.shuffle.to_writers(std::span<const std::int64_t>(rows));
        EXPECT_EQ(std::ssize(written), batch.range.count);
        for (const std::int64_t row : written) EXPECT_EQ(row, next++);
      }
      EXPECT_EQ(next, whole.end());
    }
  }
}

TEST(RowBatches, rows_without_an_owner_or_with_two_are_errors_on_all_ranks) {
  const Communicator world = Communicator::world();
  const std::vector<std::int64_t> same(2, world.rank());
  EXPECT_THROW(row_batches(world, same, 2), RunError);
  const std::vector<std::int64_t> beyond{world.rank() + 1};
  EXPECT_THROW(row_batches(world, beyond, 2), RunError);
}

}  // namespace
}  // namespace octant
