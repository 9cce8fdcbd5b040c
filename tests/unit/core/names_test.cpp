#include "core/names.hpp"

#include <string>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/number_file.hpp"

namespace octant {
namespace {

using namespace std::string_literals;

TEST(Names, are_words) {
  for (const char* name : {"a", "_x9", "velocity_x"}) EXPECT_TRUE(is_name(name)) << name;
  for (const std::string& name :
       {""s, "9a"s, "a,b"s, "a\nb"s, "a b"s, "\"a\""s, "a\0b"s, "\xc3\xa4"s, std::string(101, 'a')})
    EXPECT_FALSE(is_name(name)) << name;
}

TEST(Names, of_files_stay_in_a_folder) {
  for (const char* name : {"control.toml", "a-b_c.9"}) EXPECT_TRUE(is_file_name(name)) << name;
  for (const std::string& name :
       {""s, "."s, ".."s, ".hidden"s, "../a"s, "/a"s, "a/b"s, "-x"s, "a b"s, "a\nb"s, "a\0b"s})
    EXPECT_FALSE(is_file_name(name)) << name;
}

TEST(Printable, text_holds_no_control_characters) {
  EXPECT_EQ(printable("\x1b[2J\a\n"), "\\x1b[2J\\x07\\x0a");
  EXPECT_EQ(printable("a\n\tb\r", true), "a\n\tb\\x0d");
  EXPECT_EQ(printable("\u009b31m"), "\\xc2\\x9b31m");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable("M\u2609 \u00b5m"), "M\u2609 \u00b5m");
}

TEST(Columns, names_cannot_break_a_table) {
  Columns columns;
  columns.add("fine", 1.0);
  EXPECT_THROW(columns.add("a,b", 1.0), RunError);
  EXPECT_THROW(columns.add("a\nb", std::int64_t{1}), RunError);
  EXPECT_EQ(columns.names(), "fine");
}

}  // namespace
}  // namespace octant
