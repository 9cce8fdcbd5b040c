#include "io/fortran_file.hpp"

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace octant {
namespace {

class Bytes {
 public:
  template <class T>
  Bytes& add(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
    return *this;
  }
  std::string write(const std::string& path) const {
    std::ofstream(path, std::ios::binary).write(bytes_.data(), std::ssize(bytes_));
    return path;
  }

 private:
  std::string bytes_;
};

TEST(FortranFile, a_record_of_several_parts_is_one) {
  Bytes bytes;
  bytes.add(std::int32_t{-8}).add(1.5).add(std::int32_t{8});   // more follows
  bytes.add(std::int32_t{-8}).add(2.5).add(std::int32_t{-8});  // and more
  bytes.add(std::int32_t{8}).add(3.5).add(std::int32_t{-8});   // the last one
  bytes.add(std::int32_t{4}).add(7.25F).add(std::int32_t{4});
  FortranFile file(bytes.write(testing::TempDir() + "octant_parts"));
  EXPECT_EQ(file.reals("three numbers", 3), (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_EQ(file.position().records, 1);
  EXPECT_EQ(file.real("a single one"), 7.25);
  EXPECT_TRUE(file.at_end());
}

TEST(FortranFile, some_numbers_of_a_record_are_read) {
  Bytes bytes;
  bytes.add(std::int32_t{-16}).add(1.5).add(2.5).add(std::int32_t{16});
  bytes.add(std::int32_t{16}).add(3.5).add(4.5).add(std::int32_t{-16});
  bytes.add(std::int32_t{12}).add(5.5F).add(6.5F).add(7.5F).add(std::int32_t{12});
  bytes.add(std::int32_t{12}).add(8).add(9).add(10).add(std::int32_t{12});
  FortranFile file(bytes.write(testing::TempDir() + "octant_some"));
  std::vector<double> two(2);
  file.reals("across parts", 4, 1, two);
  EXPECT_EQ(two, (std::vector{2.5, 3.5}));
  file.reals("single ones", 3, 1, two);
  EXPECT_EQ(two, (std::vector{6.5, 7.5}));
  std::vector<std::int64_t> last(1), none;
  const RecordPosition before = file.position();
  file.integers("the last", 3, 2, last);
  EXPECT_EQ(last[0], 10);
  EXPECT_TRUE(file.at_end());
  FortranFile again(file.path(), before);
  again.integers("none", 3, 3, none);
  EXPECT_TRUE(again.at_end());
}

TEST(FortranFile, what_is_wrong_is_named) {
  Bytes bytes;
  bytes.add(std::int32_t{4}).add(std::int32_t{3}).add(std::int32_t{4});
  bytes.add(std::int32_t{4}).add(std::int32_t{3}).add(std::int32_t{5});
  const std::string path = bytes.write(testing::TempDir() + "damaged");
  const auto message_of = [&](const auto& read) -> std::string {
    try {
      FortranFile file(path);
      read(file);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto short_one = message_of([](FortranFile& file) { file.reals("mass", 2); });
  EXPECT_NE(short_one.find("damaged': record 1 (mass)"), std::string::npos) << short_one;
  const auto marker = message_of([](FortranFile& file) { file.skip("heads", 2); });
  EXPECT_NE(marker.find("record 2 (heads) has 4 bytes"), std::string::npos) << marker;
  const auto missing = message_of([](FortranFile&) { FortranFile("/nonexistent/file"); });
  EXPECT_NE(missing.find("/nonexistent/file"), std::string::npos) << missing;
}

}  // namespace
}  // namespace octant
