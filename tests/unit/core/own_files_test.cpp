#include "core/own_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

namespace fs = std::filesystem;

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class OwnFilesTest : public testing::Test {
 protected:
  OwnFilesTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    std::ofstream(victim_) << "precious";
  }
  ~OwnFilesTest() override { fs::remove_all(folder_); }
  void expect_unharmed() const { EXPECT_EQ(content(victim_), "precious"); }

  std::string folder_ = testing::TempDir() + "octant_own_files_" + std::to_string(::getpid());
  std::string victim_ = folder_ + "/victim", path_ = folder_ + "/file";
};

TEST_F(OwnFilesTest, a_new_file_replaces_a_link_and_not_its_target) {
  fs::create_symlink(victim_, path_);
  ::close(create_own_file(path_));
  EXPECT_FALSE(fs::is_symlink(path_));
  expect_unharmed();
}

TEST_F(OwnFilesTest, a_new_file_replaces_one_of_several_names_and_not_the_others) {
  fs::create_hard_link(victim_, path_);
  ::close(create_own_file(path_));
  EXPECT_EQ(fs::file_size(path_), 0u);
  expect_unharmed();
}

TEST_F(OwnFilesTest, a_link_that_leads_nowhere_creates_nothing_there) {
  fs::create_symlink(folder_ + "/nowhere", path_);
  EXPECT_THROW(open_own_file(path_, Absent::is_created), RunError);
  ::close(create_own_file(path_));
  EXPECT_FALSE(fs::exists(folder_ + "/nowhere"));
}

TEST_F(OwnFilesTest, links_and_pipes_are_not_opened) {
  fs::create_symlink(victim_, path_);
  EXPECT_THROW(open_own_file(path_), RunError);
  fs::remove(path_);
  fs::create_hard_link(victim_, path_);
  EXPECT_THROW(open_own_file(path_, Absent::is_created, Position::at_end), RunError);
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(open_own_file(path_), RunError);
  EXPECT_FALSE(FileContent(path_, 100).is_read());
  expect_unharmed();
}

TEST_F(OwnFilesTest, a_folder_that_is_a_link_is_not_written_into) {
  fs::create_directory_symlink(folder_, folder_ + "/link");
  EXPECT_THROW(make_own_folder(folder_ + "/link"), RunError);
  make_own_folder(folder_ + "/a/b");
  EXPECT_TRUE(fs::is_directory(folder_ + "/a/b"));
}

TEST_F(OwnFilesTest, a_text_replaces_the_link_that_has_its_name) {
  fs::create_symlink(victim_, path_);
  fs::create_symlink(victim_, path_ + ".part");
  write_own_file(path_, "new");
  EXPECT_EQ(content(path_), "new");
  EXPECT_FALSE(fs::exists(fs::symlink_status(path_ + ".part")));
  expect_unharmed();
}

TEST_F(OwnFilesTest, what_was_read_is_removed_and_nothing_that_came_after_it) {
  const FileContent read(victim_, 100);
  EXPECT_EQ(read.text(), "precious");
  std::ofstream(path_) << "later";
  fs::rename(path_, victim_);
  read.remove();
  EXPECT_EQ(content(victim_), "later");
  FileContent(victim_, 100).remove();
  EXPECT_FALSE(fs::exists(victim_));
  EXPECT_EQ(FileContent(victim_, 100).identity(), "");
}

TEST_F(OwnFilesTest, long_files_and_links_are_not_read) {
  EXPECT_FALSE(FileContent(victim_, 7).is_read());
  fs::create_symlink(victim_, path_);
  const FileContent link(path_, 100);
  EXPECT_FALSE(link.is_read());
  link.remove();
  EXPECT_TRUE(fs::is_symlink(path_));
}

}  // namespace
}  // namespace octant
