#include "core/memory.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

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

TEST(MemoryAccount, holds_what_was_touched_when_there_was_most) {
  constexpr std::int64_t k_bytes = 64 << 20;
  start_memory_account();
  std::vector<char> full(k_bytes, 1);
  const auto capacity = std::make_unique_for_overwrite<char[]>(k_bytes);  // half of it in use
  std::fill_n(capacity.get(), k_bytes / 2, 1);
  const char small = 0;
  count_array("full", full.data(), k_bytes);
  count_array("half", capacity.get(), k_bytes);
  count_array("small", &small, 1000);
  forget_array(&small);
  forget_array(full.data());
  forget_array(capacity.get());
  const MemoryAccount account = memory_account_at_peak();
  ASSERT_EQ(account.arrays.size(), 3U);
  EXPECT_EQ(account.arrays[0].label, "full");
  EXPECT_NEAR(static_cast<double>(account.arrays[0].bytes), k_bytes, 1e-3 * k_bytes);
  EXPECT_EQ(account.arrays[1].label, "half");
  EXPECT_NEAR(static_cast<double>(account.arrays[1].bytes), 0.5 * k_bytes, 0.05 * k_bytes);
  EXPECT_EQ(account.arrays[2].bytes, 1000);
  EXPECT_GE(account.resident, account.arrays[0].bytes + account.arrays[1].bytes);
}

TEST(MemoryAccount, counts_arrays_of_a_device_apart_from_resident_memory) {
  constexpr std::int64_t k_bytes = std::int64_t{1} << 40;  // more than any host has
  start_memory_account();
  const std::int64_t others = memory_account_at_peak().others();
  const char first = 0, second = 0;
  count_array("on a device", &first, k_bytes, true);
  count_array("on a device", &second, k_bytes, true);
  forget_array(&first);
  EXPECT_EQ(device_memory_use().current, k_bytes);
  EXPECT_EQ(device_memory_use().peak, 2 * k_bytes);
  const MemoryAccount account = memory_account_at_peak();
  EXPECT_EQ(account.arrays.front().bytes, 2 * k_bytes);
  EXPECT_TRUE(account.arrays.front().on_device);
  EXPECT_LT(account.resident, k_bytes);
  EXPECT_LT(std::abs(account.others() - others), k_bytes);
  forget_array(&second);
}

}  // namespace
}  // namespace octant
