#include "core/memory.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace octant {
namespace {

constexpr std::int64_t k_gibibyte = std::int64_t{1} << 30;

// The files of a machine with 64 GiB, below a folder of its own.
class Machine : public testing::Test {
 protected:
  Machine() : root_(testing::TempDir() + "memory_test") {
    std::filesystem::remove_all(root_);
    write("/proc/meminfo", "MemTotal:       67108864 kB\nMemFree:        1024 kB\n");
  }
  ~Machine() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path place = root_ + path;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place) << text;
  }
  std::int64_t limit_in_gibibytes() const { return memory_limit(root_) / k_gibibyte; }

  std::string root_;
};

TEST_F(Machine, has_its_own_memory_where_nothing_limits_it) {
  EXPECT_EQ(limit_in_gibibytes(), 64);
  write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(limit_in_gibibytes(), 64);
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(limit_in_gibibytes(), 64);
}

TEST_F(Machine, is_limited_by_the_least_of_nested_control_groups) {
  write("/proc/self/cgroup", "0::/slice/job/step\n");
  write("/sys/fs/cgroup/slice/memory.max", std::to_string(16 * k_gibibyte) + "\n");
  write("/sys/fs/cgroup/slice/job/memory.max", std::to_string(8 * k_gibibyte) + "\n");
  write("/sys/fs/cgroup/slice/job/step/memory.max", "max\n");
  EXPECT_EQ(limit_in_gibibytes(), 8);
}

TEST_F(Machine, is_limited_by_a_container_that_does_not_see_its_group) {
  write("/proc/self/cgroup", "0::/../../somewhere/else\n");
  write("/sys/fs/cgroup/memory.max", std::to_string(4 * k_gibibyte) + "\n");
  EXPECT_EQ(limit_in_gibibytes(), 4);
}

TEST_F(Machine, is_limited_by_control_groups_of_the_first_version) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", std::to_string(2 * k_gibibyte));
  EXPECT_EQ(limit_in_gibibytes(), 2);
}

}  // namespace
}  // namespace octant
