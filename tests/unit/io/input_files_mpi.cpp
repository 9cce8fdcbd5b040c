#include "io/input_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "core/parameters.hpp"
#include "scratch.hpp"

namespace octant {
namespace {

class InputFilesTest : public testing::Test {
 protected:
  // Writes a file and returns its path.
  std::string write(const std::string& text) const {
    const std::string path = scratch_.path("input.txt");
    if (world_.is_root()) std::ofstream(path, std::ios::binary) << text;
    world_.barrier();
    return path;
  }
  void remove(const std::string& path) const {
    if (world_.is_root()) std::filesystem::remove(path);
    world_.barrier();
  }
  // Returns the message of the InputError of a step.
  static std::string refusal(const std::function<void()>& step) {
    try {
      step();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no InputError";
  }

  const Communicator world_ = Communicator::world();
  const Scratch scratch_{world_};
};

TEST_F(InputFilesTest, a_text_of_the_root_is_read_on_all_ranks) {
  const std::string text("a\0b\r\n", 5);
  EXPECT_EQ(read_on_root(world_, write(text)), text);
  EXPECT_EQ(reader_on_root(world_)(write("")), "");
  EXPECT_EQ(read_on_root(world_, scratch_.path("none")), std::nullopt);
  EXPECT_EQ(read_on_root(world_, scratch_.path("")), std::nullopt) << "a directory";
}

TEST_F(InputFilesTest, other_ranks_have_the_files_of_the_root) {
  const std::string path = write("# rows\n1 2\n");
  InputFiles files;
  std::string text, parameters, checksum;
  std::size_t rows = 0;
  const auto read = [&] {
    if (!world_.is_root()) {
      EXPECT_FALSE(std::filesystem::exists(path));
    }
    parameters = files.parameter_file(path);
    text = *files.text(path);
    checksum = *files.checksum(path);
    rows = read_number_lines(path, "a.table", files.reader()).size();
    EXPECT_EQ(files.text("none"), std::nullopt);
    EXPECT_EQ(files.checksum("none"), std::nullopt);
    if (world_.is_root()) std::filesystem::remove(path);
  };
  files.share(world_, read);
  for (const std::string& known : {text, parameters}) EXPECT_EQ(known, "# rows\n1 2\n");
  EXPECT_TRUE(checksum.ends_with(", 11 bytes")) << checksum;
  EXPECT_EQ(rows, 1U);
  files.share(world_, read);  // once more, with the files that are known
}

TEST_F(InputFilesTest, errors_of_the_root_are_those_of_all_ranks) {
  const std::string missing = scratch_.path("none");
  const auto read = [&](const std::function<void(InputFiles&)>& action) {
    InputFiles files;
    return refusal([&] { files.share(world_, [&] { action(files); }); });
  };
  EXPECT_EQ(read([&](InputFiles& files) { files.parameter_file(missing); }),
            "cannot read the parameter file " + missing + ": No such file or directory");
  EXPECT_EQ(read([&](InputFiles& files) { read_number_lines(missing, "a.b", files.reader()); }),
            "cannot read the table '" + missing + "' (a.b)");
  const std::string path = write("1 2\n3 x\n");
  EXPECT_EQ(read([&](InputFiles& files) { read_number_lines(path, "a.b", files.reader()); }),
            path + ":2: expected numbers, found \"x\"");
}

TEST_F(InputFilesTest, other_ranks_read_no_further_files) {
  const std::string path = write("1 2\n");
  InputFiles files;
  files.share(world_, [&] { files.text(path); });
  if (world_.is_root()) EXPECT_NE(files.checksum(path), std::nullopt);
  else EXPECT_THROW(files.checksum(path), RunError);
  remove(path);
}

}  // namespace
}  // namespace octant
