#include "run/machine.hpp"

#include <gtest/gtest.h>
#include <Kokkos_Core.hpp>

namespace octant {
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

TEST(Machine, says_which_ranks_share_a_gpu) {
  Machine machine{.ranks_per_node = 2, .processors = 8, .processors_per_rank = 8};
  EXPECT_FALSE(machine.shares_devices());  // on cores
  EXPECT_EQ(machine.describe().find("GPU"), std::string::npos);
  machine.devices = {.count = 2, .name = "NVIDIA H100", .bytes_of_each = 80'000'000'000};
  EXPECT_FALSE(machine.shares_devices());
  EXPECT_TRUE(machine.describe().ends_with(
      "; kernels on 2 GPU(s) (NVIDIA H100, 80.0 GB each), with ranks distributed round-robin"));
  EXPECT_TRUE(machine.warnings().empty());
  machine.ranks_per_node = 3;
  EXPECT_TRUE(machine.shares_devices());
  ASSERT_EQ(machine.warnings().size(), 1);
  EXPECT_TRUE(machine.warnings().front().starts_with("3 rank(s) share 2 GPU(s)"));
}

TEST(Machine, gives_ranks_its_gpus_in_turn) {
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(device_of(rank, 2), rank % 2);
  EXPECT_EQ(device_of(3, 8), 3);
  EXPECT_EQ(device_of(3, 0), 0);  // Kokkos says what is missing
}

}  // namespace
}  // namespace octant
