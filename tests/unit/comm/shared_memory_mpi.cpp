// Memory that the ranks of a node share. The tests' ranks are all on one node.
#include <cstdint>

#include <gtest/gtest.h>

#include "comm/shared_memory.hpp"
#include "core/error.hpp"

namespace octant {

namespace {

TEST(SharedMemory, LetsEveryRankReadAndWriteWhatOthersHold) {
  const Communicator world = Communicator::world();
  if (!SharedMemory::is_possible(world)) return;  // a program without MPI
  constexpr int k_count = 100;
  const SharedMemory memory(world, k_count);
  const int next = (world.rank() + 1) % world.size();
  for (int n = 0; n < k_count; ++n) EXPECT_EQ(memory.of(world.rank())[n], 0.0);
  memory.synchronise();
  for (int n = 0; n < k_count; ++n) memory.of(next)[n] = 1000.0 * world.rank() + n;
  memory.synchronise();
  const int previous = (world.rank() + world.size() - 1) % world.size();
  for (int n = 0; n < k_count; ++n) EXPECT_EQ(memory.of(world.rank())[n], 1000.0 * previous + n);
}

TEST(SharedMemory, RefusesMoreThanTheNodeHas) {
  const Communicator world = Communicator::world();
  if (!SharedMemory::is_possible(world)) return;
  EXPECT_THROW(SharedMemory(world, std::size_t{1} << 50), RunError);
}

TEST(SharedMemory, BeginsOnCacheLines) {
  const Communicator world = Communicator::world();
  if (!SharedMemory::is_possible(world)) return;
  const SharedMemory memory(world, 3);
  for (int rank = 0; rank < world.size(); ++rank)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.of(rank)) % 64, 0U);
}

}  // namespace

}  // namespace octant
