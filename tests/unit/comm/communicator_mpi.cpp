#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/communicator.hpp"
#include "core/error.hpp"

namespace octant {
namespace {

TEST(CommunicatorMpi, reductions_cover_all_ranks) {
  const auto world = Communicator::world();
  const int rank = world.rank(), size = world.size();
  EXPECT_EQ(world.max(rank), size - 1);
  EXPECT_EQ(world.min(-1.5 * rank), -1.5 * (size - 1));
  EXPECT_EQ(world.sum(std::uint64_t{1} << 40), std::uint64_t(size) << 40);
  EXPECT_TRUE(world.any(rank == size - 1));
  EXPECT_FALSE(world.any(false));
  EXPECT_EQ(world.exclusive_scan(std::int64_t{2}), 2 * rank);

  std::vector<std::int64_t> values = {rank, -rank};
  world.sum_in_place(std::span(values));
  EXPECT_EQ(values[0], size * (size - 1) / 2);
  EXPECT_EQ(values[1], -values[0]);
  std::uint64_t bits[] = {std::uint64_t{1} << rank};
  world.bitwise_or_in_place(std::span<std::uint64_t>(bits));
  EXPECT_EQ(bits[0], (std::uint64_t{1} << size) - 1);
}

TEST(CommunicatorMpi, broadcast_gives_the_value_and_the_length_of_the_root) {
  const auto world = Communicator::world();
  const int root = world.size() - 1;
  std::string text = world.rank() == root ? "octree" : "something longer";
  world.broadcast(text, root);
  EXPECT_EQ(text, "octree");
  std::vector<double> values;
  if (world.rank() == root) values = {0.5, 0.5, 0.5};
  world.broadcast(values, root);
  EXPECT_EQ(values, std::vector<double>(3, 0.5));
}

TEST(CommunicatorMpi, gathered_items_come_in_the_order_of_ranks) {
  const auto world = Communicator::world();
  const std::vector<int> mine(world.rank(), world.rank());
  const auto all = world.gather_to_root(std::span<const int>(mine));
  std::vector<int> expected;
  for (int rank = 0; rank < world.size(); ++rank) expected.insert(expected.end(), rank, rank);
  EXPECT_EQ(all, world.is_root() ? expected : std::vector<int>{});
  EXPECT_EQ(world.gather_to_root(1.0).size(), world.is_root() ? world.size() : 0u);
}

TEST(CommunicatorMpi, an_error_on_one_rank_is_thrown_on_all) {
  const auto world = Communicator::world();
  const int last = world.size() - 1;
  try {
    world.collective_try([&] {
      if (world.rank() == last) throw InputError("no file on rank {}", last);
    });
    FAIL() << "nothing was thrown";
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(), "no file on rank " + std::to_string(last));
  }
}

TEST(CommunicatorMpi, of_several_errors_that_of_the_lowest_rank_is_thrown) {
  const auto world = Communicator::world();
  const auto fail = [&] {
    if (world.rank() == 0) throw RunError("first");
    throw InputError("another");
  };
  try {
    world.collective_try(fail);
    FAIL() << "nothing was thrown";
  } catch (const RunError& error) {
    EXPECT_STREQ(error.what(), "first");
  }
}

TEST(CommunicatorMpi, any_other_exception_becomes_a_run_error) {
  const auto world = Communicator::world();
  EXPECT_THROW(world.collective_try([&] { std::vector<int>().at(1); }), RunError);
  EXPECT_THROW(world.collective_try([&] { throw std::bad_alloc(); }), RunError);
}

TEST(CommunicatorMpi, a_step_without_errors_goes_on) {
  const auto world = Communicator::world();
  int done = 0;
  world.collective_try([&] { done = 1; });
  EXPECT_EQ(world.sum(done), world.size());
}

}  // namespace
}  // namespace octant
