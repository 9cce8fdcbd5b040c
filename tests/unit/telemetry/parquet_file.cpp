#include "telemetry/parquet_file.hpp"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "parquet_table.hpp"
#include "telemetry/parquet_io.hpp"
#include "telemetry/parquet_values.hpp"
#include "telemetry/thrift.hpp"

namespace octant::telemetry {
namespace {

namespace fs = std::filesystem;

class ParquetFiles : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder()); }
  void TearDown() override { fs::remove_all(folder()); }

  static std::string folder() {
    return (fs::temp_directory_path() / fmt::format("octant_parquet_{}", ::getpid())).string();
  }
  static std::string path(const std::string& name) { return folder() + "/" + name; }
};

// Of every type, with its extremes.
template <class T>
std::vector<T> extremes(int rows) {
  std::vector<T> values(rows, T{7});
  values.front() = std::numeric_limits<T>::lowest();
  values.back() = std::numeric_limits<T>::max();
  return values;
}

std::vector<Column> columns_of_all_types(int rows) {
  Texts texts{{}, {"sweep", "", "a longer name, \xc3\xbc"}};
  std::vector<bool> truths;
  for (int n = 0; n < rows; ++n) {
    texts.numbers.push_back(n % 3);
    truths.push_back(n % 5 == 0);
  }
  return {{"bool", truths},
          {"int8", extremes<std::int8_t>(rows)},
          {"int16", extremes<std::int16_t>(rows)},
          {"int32", extremes<std::int32_t>(rows)},
          {"int64", extremes<std::int64_t>(rows)},
          {"uint64", extremes<std::uint64_t>(rows)},
          {"float", extremes<float>(rows)},
          {"double", extremes<double>(rows)},
          {"text", texts}};
}

TEST_F(ParquetFiles, values_of_every_type_come_back) {
  for (const int rows : {2, 8, 9, 1000}) {
    const auto written = columns_of_all_types(rows);
    write_parquet(path("all.parquet"), written, {{"key", "value"}, {"empty", ""}});
    std::vector<std::string> names;
    for (const Column& column : written) names.push_back(column.name);
    EXPECT_TRUE(read_parquet(path("all.parquet"), names) == written) << "rows: " << rows;
    const Metadata expected{{"key", "value"}, {"empty", ""}};
    EXPECT_EQ(parquet_metadata(path("all.parquet")), expected);
  }
}

TEST_F(ParquetFiles, a_merged_file_has_all_rows_in_order_and_one_list_of_texts) {
  write_parquet(
      path("a"),
      std::vector<Column>{{"n", std::vector{1, 2, 3}}, {"name", Texts{{0, 1, 0}, {"x", "y"}}}}, {});
  write_parquet(path("b"),
                std::vector<Column>{{"n", std::vector{4}}, {"name", Texts{{1}, {"z", "y"}}}}, {});
  merge_parquet(std::vector{path("a"), path("b")}, path("c"), {{"whole", "yes"}}, 2);
  const ParquetTable table(path("c"));
  ASSERT_EQ(table.rows(), 3);
  EXPECT_EQ(table.number("n", 1), 2);
  EXPECT_EQ(table.number("n", 2), 4);
  EXPECT_EQ(table.text("name", 0), "x");
  EXPECT_EQ(table.text("name", 2), "y");
  EXPECT_EQ(table.metadata("whole"), "yes");
}

TEST_F(ParquetFiles, a_joined_file_has_all_rows_in_the_groups_and_bytes_of_the_others) {
  const auto first = columns_of_all_types(100), second = columns_of_all_types(9);
  write_parquet(path("a"), first, {{"whole", "no"}});
  write_parquet(path("b"), second, {});
  join_parquet(std::vector{path("a"), path("b"), path("a")}, path("c"), {{"whole", "yes"}});
  const parquet::Input joined(path("c"));
  ASSERT_EQ(joined.groups(), 3U);
  EXPECT_EQ(joined.metadata(), (Metadata{{"whole", "yes"}}));
  for (std::size_t place = 0; place < first.size(); ++place) {
    Column column = joined.schema().at(place);
    joined.append(column, place, 1, 9);
    EXPECT_TRUE(column == second[place]) << column.name;
    for (const std::size_t group : {0U, 2U})
      EXPECT_EQ(joined.stored(place, group).bytes,
                parquet::Input(path("a")).stored(place, 0).bytes);
  }
  // A joined file can be read and merged like any other.
  merge_parquet(std::vector{path("c"), path("b")}, path("d"), {});
  join_parquet(std::vector{path("c"), path("b")}, path("e"), {});
  for (const Column& column : first)
    EXPECT_TRUE(parquet::Input(path("d")).column(column.name) ==
                parquet::Input(path("e")).column(column.name));
}

TEST_F(ParquetFiles, of_which_no_row_is_taken_still_have_columns) {
  write_parquet(path("a"), std::vector<Column>{{"n", std::vector{1, 2, 3}}}, {});
  merge_parquet(std::vector{path("a")}, path("b"), {}, 0);
  merge_parquet(std::vector{path("b"), path("a")}, path("c"), {});
  EXPECT_EQ(ParquetTable(path("c")).rows(), 3);
}

TEST_F(ParquetFiles, are_merged_into_groups_of_a_million_rows_a_column_at_a_time) {
  constexpr int k_rows = 400'000;
  std::vector<std::int32_t> numbers(k_rows);
  for (int n = 0; n < k_rows; ++n) numbers[n] = n;
  write_parquet(path("a"), std::vector<Column>{{"n", numbers}}, {});
  merge_parquet(std::vector(3, path("a")), path("b"), {});
  EXPECT_EQ(parquet::Input(path("b")).groups(), 2U);
  const ParquetTable table(path("b"));
  ASSERT_EQ(table.rows(), 3 * k_rows);
  for (const int n : {0, k_rows - 1, k_rows, 2 * k_rows, 3 * k_rows - 1})
    EXPECT_EQ(table.number("n", n), n % k_rows);
}

TEST_F(ParquetFiles, are_refused_where_they_are_damaged_or_something_else) {
  const auto written = columns_of_all_types(100);
  write_parquet(path("a"), written, {{"key", "value"}});
  std::ifstream file(path("a"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  enum class Outcome { refused, same, other };
  const auto read = [&](const std::string& bytes) {
    std::ofstream(path("b"), std::ios::binary) << bytes;
    try {
      std::vector<Column> columns;
      const parquet::Input input(path("b"));
      for (const Column& column : input.schema()) columns.push_back(input.column(column.name));
      return columns == written ? Outcome::same : Outcome::other;
    } catch (const std::exception&) {
      return Outcome::refused;
    }
  };
  EXPECT_EQ(read(whole), Outcome::same);
  EXPECT_EQ(read(""), Outcome::refused);
  EXPECT_EQ(read("PAR1"), Outcome::refused);
  EXPECT_EQ(read(whole.substr(0, whole.size() - 1)), Outcome::refused);
  EXPECT_EQ(read(std::string(whole.size(), 'x')), Outcome::refused);
  // Values carry gzip's sums, and their headers say what is known; names and types do not.
  std::uint32_t description = 0;
  std::memcpy(&description, &whole[whole.size() - 8], sizeof description);
  for (std::size_t n = 4; n < whole.size() - 8 - description; ++n) {
    std::string flipped = whole;
    flipped[n] ^= 1;
    EXPECT_NE(read(flipped), Outcome::other) << "byte " << n;
  }
  EXPECT_THROW(read_parquet(path("a"), std::vector<std::string>{"nothing"}), RunError);
  EXPECT_THROW(parquet_metadata(path("none")), RunError);
}

TEST_F(ParquetFiles, of_other_columns_are_not_merged) {
  write_parquet(path("a"), std::vector<Column>{{"n", std::vector{1}}}, {});
  write_parquet(path("b"), std::vector<Column>{{"m", std::vector{1}}}, {});
  EXPECT_THROW(merge_parquet(std::vector{path("a"), path("b")}, path("c"), {}), RunError);
  EXPECT_THROW(join_parquet(std::vector{path("a"), path("b")}, path("c"), {}), RunError);
  EXPECT_FALSE(fs::exists(path("c")));
  EXPECT_FALSE(fs::exists(path(".c.part")));
}

TEST(Thrift, long_lists_large_numbers_and_unknown_fields_come_back) {
  Thrift::List list(300);
  for (int n = 0; n < 300; ++n) list[n].value = std::int64_t{1} << (n % 63);
  const auto bytes = thrift_bytes(
      {{1, {true}}, {2, {false}}, {5, {list}}, {16, {std::int64_t{-1}}}, {31, {std::string("x")}}});
  std::span<const std::byte> left = bytes;
  const Thrift read = read_thrift(left);
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(read.at(5).list().at(62).integer(), std::int64_t{1} << 62);
  EXPECT_EQ(read.at(16).integer(), -1);
  EXPECT_EQ(read.at(31).text(), "x");
  EXPECT_EQ(read.find(3), nullptr);
  EXPECT_THROW(read.at(3), RunError);
  EXPECT_THROW(read.at(1).integer(), RunError);
}

TEST(Thrift, damaged_descriptions_are_refused) {
  const auto is_refused = [](const std::vector<std::uint8_t>& text) {
    const auto bytes = std::as_bytes(std::span(text));
    std::span<const std::byte> left = bytes;
    EXPECT_THROW(read_thrift(left), RunError);
  };
  is_refused(std::vector<std::uint8_t>(1 << 20, 0x19));                      // lists of lists
  is_refused({0x03, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x01, 0xf3, 0x01, 0x00});  // field 2^31 - 1 + 15
}

TEST_F(ParquetFiles, false_numbers_of_values_are_refused) {
  const Column column{"n", std::vector<std::int8_t>{1, 2}};
  const auto bytes = parquet::value_bytes(column);
  for (const std::int64_t count :
       {std::int64_t{-1}, std::int64_t{1} << 62, std::int64_t{1} << 40}) {
    Column read = parquet::empty_column("n", column.values.index());
    EXPECT_THROW(parquet::append_values(read, bytes, count), RunError) << count;
  }
}

TEST(Deflate, bytes_come_back_and_damage_is_noticed) {
  if (!deflate_is_available()) GTEST_SKIP() << "built without zlib";
  std::vector<std::byte> bytes(100000);
  for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<std::byte>(n * n / 1000);
  for (const int level : {1, 6}) {
    auto fewer = deflated(bytes, level);
    EXPECT_LT(fewer.size(), bytes.size());
    EXPECT_EQ(inflated(fewer, bytes.size()), bytes);
    EXPECT_THROW(inflated(fewer, bytes.size() - 1), RunError);
    fewer[fewer.size() / 2] ^= std::byte{1};
    EXPECT_THROW(inflated(fewer, bytes.size()), RunError);
  }
  EXPECT_TRUE(inflated(deflated({}, 1), 0).empty());
}

}  // namespace
}  // namespace octant::telemetry
