#include <cmath>
#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.hpp"
#include "gravity/green_function.hpp"

namespace octant::gravity {
namespace {

// A table in a file of its own.
class File {
 public:
  explicit File(const std::string& text)
      : path_(testing::TempDir() + "transfer_" + std::to_string(::getpid()) + ".txt") {
    std::ofstream(path_) << text;
  }
  ~File() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(TransferTable, is_linear_in_log_k_and_a_and_constant_beyond) {
  const File file("# factors\n0.5 1.0  # scale factors\n\n0.1, 1.0, 2.0\n10.0 3.0 6.0\n");
  const TransferTable table(file.path(), 50.0, read_text_file);
  EXPECT_DOUBLE_EQ(table(5.0, 0.5), 1.0);  // k = 0.1 in units of 50
  EXPECT_DOUBLE_EQ(table(5.0, 0.75), 1.5);
  EXPECT_NEAR(table(50.0, 1.0), 4.0, 1e-12);
  EXPECT_DOUBLE_EQ(table(1.0, 0.1), 1.0);
  EXPECT_DOUBLE_EQ(table(1e4, 2.0), 6.0);
}

TEST(TransferTable, may_be_of_one_scale_factor) {
  const File file("1\n2.0 0.25\n");
  EXPECT_DOUBLE_EQ(TransferTable(file.path(), 1.0, read_text_file)(7.0, 0.3), 0.25);
}

void expect_refusal(const std::string& text, const std::string& what) {
  const File file(text);
  try {
    TransferTable(file.path(), 1.0, read_text_file);
    FAIL() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
  }
}

TEST(TransferTable, names_the_line_of_what_it_cannot_use) {
  expect_refusal("0.5 1.0\n0.1 1.0\n", ":2: expected a wavenumber and 2 transfer factors");
  expect_refusal("1.0 0.5\n", ":1: the scale factors");
  expect_refusal("1.0\n0.2 1\n0.1 1\n", ":3: wavenumbers");
  expect_refusal("1.0\n0.2 one\n", "found \"one\"");
  expect_refusal("1.0\n", "expected a line of scale factors");
  EXPECT_THROW(TransferTable("/nowhere/table", 1.0, read_text_file), InputError);
}

}  // namespace
}  // namespace octant::gravity
