#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "run/memory_need.hpp"

namespace octant {
namespace {

TEST(MemoryNeed, holds_what_ranks_need_against_the_gpus_of_a_node) {
  const NodeMemory two_gpus{.needed = 170e9, .there = 160e9, .ranks = 3, .devices = 2};
  EXPECT_EQ(why_too_little(two_gpus, "the base grid", "mesh.base_cells"),
            "not enough memory: the base grid needs 170 GB on a node of 3 rank(s), but only "
            "160 GB are available on 2 GPU(s); use more nodes, or a smaller mesh.base_cells");
  const NodeMemory enough{.needed = 150e9, .there = 160e9, .ranks = 3, .devices = 2};
  EXPECT_EQ(why_too_little(enough, "the base grid", "mesh.base_cells"), "");
}

TEST(MemoryNeed, speaks_of_no_gpu_where_kernels_run_on_cores) {
  const NodeMemory node{.needed = 20e9, .there = 16e9, .ranks = 1, .devices = 0};
  EXPECT_EQ(why_too_little(node, "the grid", "grid.cells").find("GPU"), std::string::npos);
}

TEST(MemoryNeed, knows_a_lack_of_memory_by_what_is_said_of_it) {
  const std::runtime_error kokkos(
      "Cuda memory space failed to allocate 12.3 GiB (label=\"fields\").");
  EXPECT_EQ(missing_memory(kokkos), kokkos.what());
  EXPECT_TRUE(missing_memory(std::runtime_error(
      "cudaMallocAsync(&p, n, s) error( cudaErrorMemoryAllocation): out of memory")));
  EXPECT_TRUE(
      missing_memory(std::runtime_error("hipMalloc error( hipErrorOutOfMemory): out of memory")));
  EXPECT_EQ(missing_memory(std::bad_alloc()), "");
  EXPECT_FALSE(missing_memory(std::runtime_error("cudaErrorIllegalAddress")));
}

}  // namespace
}  // namespace octant
