#include "io/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

#include "core/error.hpp"
#include "core/own_files.hpp"

namespace octant {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest() { std::filesystem::create_directories(folder_); }
  ~FileLockTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_ = (std::filesystem::temp_directory_path() / "octant_lock_").string() +
                        std::to_string(::getpid());
  std::string path_ = folder_ + "/run.lock";
};

TEST_F(FileLockTest, names_its_holder_and_ends_with_it) {
  {
    const FileLock first(path_);
    EXPECT_TRUE(first.is_held());
    const FileLock second(path_);
    EXPECT_FALSE(second.is_held());
    const std::string process = "process " + std::to_string(::getpid()) + " on ";
    EXPECT_TRUE(second.holder().starts_with(process)) << second.holder();
  }
  EXPECT_TRUE(FileLock(path_).is_held());
}

TEST_F(FileLockTest, goes_with_its_folder) {
  const FileLock first(path_);
  std::filesystem::rename(folder_, folder_ + ".old");
  std::filesystem::create_directory(folder_);
  EXPECT_TRUE(FileLock(path_).is_held());
  EXPECT_FALSE(FileLock(folder_ + ".old/run.lock").is_held());
  std::filesystem::remove_all(folder_ + ".old");
}

TEST_F(FileLockTest, needs_a_folder_that_can_be_written) {
  EXPECT_THROW(FileLock(folder_ + "/missing/run.lock"), RunError);
}

TEST_F(FileLockTest, a_missing_folder_cannot_be_brought_to_the_disk) {
  EXPECT_THROW(sync_directory_of(folder_ + "/missing/file"), RunError);
}

}  // namespace
}  // namespace octant
