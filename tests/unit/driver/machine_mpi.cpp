#include "driver/machine.hpp"

#include <gtest/gtest.h>
#include <Kokkos_Core.hpp>

namespace octant::driver {
namespace {

TEST(Machine, counts_ranks_threads_and_processors) {
  const Communicator world = Communicator::world();
  const Machine machine = machine_of(world);
  EXPECT_EQ(machine.ranks_per_node, world.size());
  EXPECT_EQ(machine.threads_per_rank, Kokkos::DefaultHostExecutionSpace().concurrency());
  EXPECT_GE(machine.processors, machine.processors_per_rank);
  EXPECT_GE(machine.processors_per_rank, 1);
  EXPECT_EQ(machine.is_crowded(), world.size() * machine.threads_per_rank > machine.processors);
}

TEST(Machine, is_crowded_where_threads_take_turns) {
  Machine machine{
      .ranks_per_node = 4, .threads_per_rank = 2, .processors = 8, .processors_per_rank = 8};
  EXPECT_FALSE(machine.is_crowded());
  EXPECT_FALSE(machine.is_bound());
  machine.processors_per_rank = 2;
  EXPECT_FALSE(machine.is_crowded());
  EXPECT_TRUE(machine.is_bound());
  machine.processors_per_rank = 1;
  EXPECT_TRUE(machine.is_crowded());
  machine = {.ranks_per_node = 9, .threads_per_rank = 1, .processors = 8, .processors_per_rank = 8};
  EXPECT_TRUE(machine.is_crowded());
}

}  // namespace
}  // namespace octant::driver
