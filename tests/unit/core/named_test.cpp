// Enumerations with names, and parameters of such types.
#include "core/named.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant {
namespace {

enum class Fruit { apple, pear, sour_cherry };
constexpr auto names_of(Fruit) { return std::array{"apple", "pear", "sour_cherry"}; }

static_assert(Named<Fruit> && Named<Axis> && !Named<std::byte> && !Named<int>);

TEST(Named, values_have_names_and_names_values) {
  for (const Fruit fruit : values_of<Fruit>()) EXPECT_EQ(value_named<Fruit>(name_of(fruit)), fruit);
  EXPECT_EQ(name_of(Fruit::sour_cherry), "sour_cherry");
  EXPECT_EQ(value_named<Fruit>("cherry"), std::nullopt);
  EXPECT_EQ(names_of_all<Axis>(), (std::vector<std::string>{"x", "y", "z"}));
}

struct Basket {
  Fruit one = Fruit::pear;
  std::optional<Fruit> maybe;
  std::vector<Fruit> several{Fruit::apple, Fruit::apple};
  Axis level = Axis::x;

  ParameterSchema schema() {
    ParameterSchema schema;
    schema.add("one", one, {.meaning = "One"});
    schema.add("maybe", maybe, {.meaning = "One or none"});
    schema.add("several", several, {.meaning = "Any number"});
    schema.add("level", level, {.meaning = "Not upwards", .choices = {"x", "y"}});
    return schema;
  }
};

std::string refusal(const std::string& text) {
  Basket basket;
  auto schema = basket.schema();
  try {
    schema.read_text(text, "a.toml");
  } catch (const InputError& failure) {
    return failure.what();
  }
  return "no InputError";
}

TEST(NamedParameter, is_read_by_its_name) {
  Basket basket;
  auto schema = basket.schema();
  schema.read_text("one = 'sour_cherry'\nmaybe = 'apple'\nseveral = ['pear']\nlevel = 'y'",
                   "a.toml");
  EXPECT_EQ(basket.one, Fruit::sour_cherry);
  EXPECT_EQ(basket.maybe, Fruit::apple);
  EXPECT_EQ(basket.several, std::vector{Fruit::pear});
  EXPECT_EQ(basket.level, Axis::y);
  schema.read_text("maybe = 'auto'\nseveral = []", "a.toml");
  EXPECT_EQ(basket.maybe, std::nullopt);
  EXPECT_TRUE(basket.several.empty());
}

TEST(NamedParameter, is_written_as_it_is_read) {
  Basket basket;
  const auto schema = basket.schema();
  EXPECT_EQ(schema.resolved_toml(),
            "one = \"pear\"  # One\n"
            "maybe = \"auto\"  # One or none\n"
            "several = [\"apple\", \"apple\"]  # Any number\n"
            "level = \"x\"  # Not upwards\n");
  EXPECT_NE(schema.markdown().find("| `maybe` | a string |  | `\"auto\"` | \"auto\" or \"apple\" "
                                   "or \"pear\" or \"sour_cherry\" | One or none |"),
            std::string::npos);
  EXPECT_NE(schema.markdown().find("| `several` | a list of strings |"), std::string::npos);
}

TEST(NamedParameter, refuses_other_names_and_types_and_keeps_its_value) {
  EXPECT_EQ(refusal("one = 'pera'"),
            "a.toml:1: one: unknown choice \"pera\"; expected \"apple\" or \"pear\" or "
            "\"sour_cherry\" (nearest: pear)");
  EXPECT_EQ(refusal("maybe = 'autto'").substr(0, 45),
            "a.toml:1: maybe: unknown choice \"autto\"; expe");
  EXPECT_EQ(refusal("several = ['apple', 'plum']").substr(0, 45),
            "a.toml:1: several: unknown choice \"plum\"; exp");
  EXPECT_EQ(refusal("level = 'z'"),
            "a.toml:1: level: unknown choice \"z\"; expected \"x\" or \"y\"");
  EXPECT_EQ(refusal("one = 3"), "a.toml:1: one: expected a string, found the integer 3");
  EXPECT_EQ(refusal("several = 'apple'"),
            "a.toml:1: several: expected a list of strings, found the string \"apple\"");
}

TEST(NamedParameter, whose_default_is_no_choice_is_refused) {
  Axis axis = Axis::z;
  ParameterSchema schema;
  EXPECT_THROW(schema.add("axis", axis, {.choices = {"x", "y"}}), RunError);
}

}  // namespace
}  // namespace octant
