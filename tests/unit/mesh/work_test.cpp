// What kernels of the mesh say that they work through.
#include <gtest/gtest.h>

#include "mesh/interpolation.hpp"

namespace octant::mesh {
namespace {

KernelWork g_heard;

InterpolationTask task_of(std::int16_t ni, std::int16_t nj, std::int16_t nk) {
  InterpolationTask task{};
  task.cells = {ni, nj, nk};
  return task;
}

class InterpolationWork : public testing::Test {
 protected:
  InterpolationWork() {
    kernel_work_callback = [](std::string_view kernel, const KernelWork& work) {
      if (kernel == "interpolate") g_heard = work;
    };
    g_heard = {};
  }
  ~InterpolationWork() override { kernel_work_callback = nullptr; }

  std::vector<InterpolationTask> tasks_{task_of(1, 4, 4), task_of(2, 2, 4)};
};

TEST_F(InterpolationWork, is_that_of_all_coarse_cells) {
  record_interpolation(tasks_, 5, false);
  EXPECT_EQ(g_heard.items, 32);
  EXPECT_EQ(g_heard.bytes, 32 * 5 * 9 * 8) << "a cell and its eight children";
  EXPECT_EQ(g_heard.operations, 32 * 5 * (3 * 3 + 3 + 8 * 3));
}

TEST_F(InterpolationWork, between_two_times_takes_a_blend_of_each_value) {
  record_interpolation(tasks_, 1, true);
  EXPECT_EQ(g_heard.bytes, 32 * 10 * 8);
  EXPECT_EQ(g_heard.operations, 32 * (36 + 7 * 3));
}

}  // namespace
}  // namespace octant::mesh
