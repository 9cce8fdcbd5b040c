// Expressions that users write into parameter files: "1 + 9*(r < 0.15)". Operators and functions
// are those of muParser (beltoforion.de/en/muparser); comparisons give 1 or 0.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace octant {

// Whether this program was built with muParser. Without it every Expression throws InputError.
bool has_expressions();

class FunctionTable;

// What the names in an expression stand for.
class ExpressionNames {
 public:
  // Throw InputError if the name is taken, also by a function, or is none; `parameter` is where it
  // was given.
  void add_constant(const std::string& parameter, const std::string& name, double value);
  // The variable's value is read, whenever an expression is asked for its own, from an address.
  void add_variable(const std::string& parameter, const std::string& name, double* value);
  // name(x) interpolates linearly between the lines of a text file, each an x and a value, and is
  // constant beyond them. Throws InputError, naming the line, if the x do not ascend.
  void add_table(const std::string& parameter, const std::string& name, const std::string& path);

  std::vector<std::string> all() const;
  bool has(const std::string& name) const { return meanings_.contains(name); }
  bool is_table(const std::string& name) const;

 private:
  friend class Expression;
  using Meaning = std::variant<double, double*, std::shared_ptr<FunctionTable>>;
  void add(const std::string& parameter, const std::string& name, Meaning meaning);

  std::map<std::string, Meaning> meanings_;
  std::array<std::vector<std::string>, 3> in_order_;  // constants, variables, tables
};

// The names that a text of an expression holds, functions included, each once. Takes time in
// proportion to the length of the text.
std::set<std::string> names_in(const std::string& text);

// What expressions of a place and a moment may use: x, y, z, the distance r from a centre, the time
// t, and pi. The point must stay where it is as long as its names are used.
struct ExpressionPoint {
  double x = 0.0, y = 0.0, z = 0.0, r = 0.0, t = 0.0;

  ExpressionNames names();
  void set(const std::array<double, 3>& place, const std::array<double, 3>& centre, double time);
};

// A name and what stands for it, of "name = text". Throws InputError if there is no "=".
std::pair<std::string, std::string> split_definition(const std::string& parameter,
                                                     const std::string& definition);

// The deepest nesting of parentheses in an expression.
inline constexpr int k_deepest_parentheses = 2000;

// An expression, compiled once. Its arithmetic is that which is written, from left to right among
// equals, in double precision.
class Expression {
 public:
  // Throws InputError, with the text and a caret under the fault, if it is none of these names, or
  // if it is longer or nested deeper than can be compiled.
  Expression(const std::string& parameter, const std::string& text, const ExpressionNames& names);
  Expression(Expression&&) noexcept;
  ~Expression();

  // Whether it uses a variable; whether it uses none.
  bool uses(const std::string& variable) const;
  bool is_constant() const;
  // At the present values of its variables. Not for several threads at once.
  double value() const;

  const std::string& text() const { return text_; }
  // "problem.density = "1/x"", for messages.
  std::string description() const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  std::string parameter_, text_;
};

}  // namespace octant
