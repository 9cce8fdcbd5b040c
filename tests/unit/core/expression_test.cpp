#include "core/expression.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/error.hpp"

namespace octant {
namespace {

class ExpressionTest : public ::testing::Test {
 protected:
  ExpressionTest() {
    names.add_constant("problem", "pi", M_PI);
    names.add_variable("problem", "x", &x);
    names.add_variable("problem", "y", &y);
  }
  void SetUp() override {
    if (!has_expressions()) GTEST_SKIP() << "built without muParser";
  }
  Expression expression(const std::string& text) const { return {"problem.density", text, names}; }
  std::string fault(const std::string& text) const {
    try {
      expression(text);
    } catch (const InputError& failure) {
      return failure.what();
    }
    return "no InputError";
  }

  ExpressionNames names;
  double x = 0.25, y = -3.0;
};

TEST_F(ExpressionTest, follows_its_variables) {
  const Expression density = expression("1 + 9*(x < 0.3) + y");
  EXPECT_EQ(density.value(), 7.0);
  x = 0.3;
  EXPECT_EQ(density.value(), -2.0);
}

TEST_F(ExpressionTest, rounds_as_it_is_written) {
  x = 0.1, y = 1e-17;
  EXPECT_EQ(expression("x*3 + x*0.7").value(), x * 3 + x * 0.7);
  EXPECT_EQ(expression("(x - 0.1)/0.3").value(), 0.0);
  EXPECT_EQ(expression("1 + y - 1").value(), 0.0);
  EXPECT_EQ(expression("2*pi*x").value(), 2.0 * M_PI * x);
  EXPECT_EQ(expression("x <= 0.1 ? sin(x) : 1e3").value(), std::sin(x));
}

TEST_F(ExpressionTest, a_caret_stands_under_the_fault) {
  EXPECT_EQ(fault("1 + 9*(xx < 0.15)"),
            "problem.density: unknown name \"xx\"; did you mean \"x\"?\n"
            "  1 + 9*(xx < 0.15)\n"
            "         ^");
  EXPECT_EQ(fault("1 + * 2"), "problem.density: \"*\" is not valid here\n  1 + * 2\n      ^");
  EXPECT_EQ(fault("x^"), "problem.density: the expression is incomplete\n  x^\n    ^");
  EXPECT_EQ(fault("(1 + x"), "problem.density: unbalanced parenthesis\n  (1 + x\n        ^");
  EXPECT_EQ(fault("sin(1, 2)"),
            "problem.density: too many values for sin()\n  sin(1, 2)\n          ^");
  EXPECT_EQ(fault("1, 2"), "problem.density: one value is expected, not several\n  1, 2\n   ^");
  EXPECT_EQ(fault("2 * exp"),
            "problem.density: the function exp requires parentheses\n  2 * exp\n      ^");
  EXPECT_EQ(fault("x**2"), "problem.density: write powers as x^2\n  x**2\n   ^");
  EXPECT_EQ(fault("pow(x, 2)"), "problem.density: write \"pow\" as x^y\n  pow(x, 2)\n  ^");
  EXPECT_EQ(fault("x > 0 and x < 1"),
            "problem.density: write \"and\" as &&\n  x > 0 and x < 1\n        ^");
  EXPECT_EQ(fault(""), "problem.density: the expression is empty\n  \n  ^");
}

TEST_F(ExpressionTest, does_not_end_at_a_null_character) {
  using namespace std::string_literals;
  EXPECT_EQ(fault("3 \0("s),
            "problem.density: the expression contains the character \\u0000\n  3  (\n    ^");
}

TEST_F(ExpressionTest, letters_beyond_ascii_take_one_column) {
  EXPECT_EQ(fault("(x > 0) * \u03c1"),
            "problem.density: \"\u03c1\" is not valid here\n  (x > 0) * \u03c1\n            ^");
  EXPECT_EQ(fault("x\n+ xx").substr(36), "did you mean \"x\"?\n  x + xx\n      ^");
}

TEST_F(ExpressionTest, sets_no_variable) {
  EXPECT_EQ(fault("(x = 3) + 1"),
            "problem.density: assignments with \"=\" are not supported; use \"==\" for "
            "comparisons\n  (x = 3) + 1\n     ^");
  EXPECT_EQ(expression("(x == 0.25) + (x != 1) + (x >= 0) + (x <= 1)").value(), 4.0);
}

class TableFile {
 public:
  explicit TableFile(const std::string& text)
      : path(testing::TempDir() + "table_" + std::to_string(::getpid()) + ".txt") {
    std::ofstream(path) << text;
  }
  ~TableFile() { std::remove(path.c_str()); }
  const std::string path;
};

TEST_F(ExpressionTest, a_table_is_a_function) {
  const TableFile file("# x, value\n0 1\n\n1, 3  # and\n3 -1\n");
  names.add_table("problem.tables.f", "f", file.path, read_text_file);
  const Expression doubled = expression("2*f(x)");
  for (const auto& [place, value] :
       {std::pair{0.0, 2.0}, {0.25, 3.0}, {1.0, 6.0}, {2.0, 2.0}, {-5.0, 2.0}, {9.0, -2.0}}) {
    x = place;
    EXPECT_EQ(doubled.value(), value) << place;
  }
  EXPECT_TRUE(expression("f(0.5)").is_constant());
  EXPECT_EQ(fault("f + 1"), "problem.density: the function f requires parentheses\n  f + 1\n  ^");
}

TEST_F(ExpressionTest, a_table_of_anything_else_is_an_error) {
  const auto fault_of = [&](const std::string& text) {
    const TableFile file(text);
    try {
      names.add_table("problem.tables.f", "f", file.path, read_text_file);
    } catch (const InputError& failure) {
      return std::string(failure.what()).substr(file.path.size());
    }
    return std::string("no InputError");
  };
  EXPECT_EQ(fault_of("0 1\n1\n"), ":2: expected two numbers, found 1");
  EXPECT_EQ(fault_of("0 1\n\n0 2\n"),
            ":3: the first column must be strictly increasing, but 0 follows 0");
  EXPECT_EQ(fault_of("0 1\n1 two\n"), ":2: expected numbers, found \"two\"");
  EXPECT_NE(fault_of("# nothing\n").find("contains no numbers"), std::string::npos);
  EXPECT_THROW(names.add_table("problem.tables.f", "f", "/nowhere/table", read_text_file),
               InputError);
}

TEST_F(ExpressionTest, a_definition_has_a_name_and_a_text) {
  const auto [name, text] = split_definition("problem.terms", " a=  x == 1 ");
  EXPECT_EQ(name, "a");
  EXPECT_EQ(text, "x == 1");
  EXPECT_THROW(split_definition("problem.terms", "a"), InputError);
}

TEST_F(ExpressionTest, names_are_taken_once) {
  for (const char* name : {"x", "pi", "sin", "2x", "a b", ""})
    EXPECT_THROW(names.add_constant("problem.constants", name, 1.0), InputError) << name;
  names.add_constant("problem.constants", "sine", 2.0);
  EXPECT_EQ(expression("sine*x").value(), 0.5);
}

}  // namespace
}  // namespace octant
