// Expressions that users write into parameter files: "1 + 9*(r < 0.15)". Operators and functions
// are those of muParser (beltoforion.de/en/muparser); comparisons give 1 or 0.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
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
  bool is_table(const std::string& name) const;

 private:
  friend class Expression;
  void require_free(const std::string& parameter, const std::string& name) const;

  std::vector<std::pair<std::string, double>> constants_;
  std::vector<std::pair<std::string, double*>> variables_;
  std::vector<std::pair<std::string, std::shared_ptr<FunctionTable>>> tables_;
};

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

// An expression, compiled once. Its arithmetic is that which is written, from left to right among
// equals, in double precision.
class Expression {
 public:
  // Throws InputError, with the text and a caret under the fault, if it is none of these names.
  Expression(const std::string& parameter, const std::string& text, const ExpressionNames& names);
  Expression(Expression&&) noexcept;
  ~Expression();

  // Whether it uses a variable; whether it uses none.
  bool uses(const std::string& variable) const;
  bool is_constant() const;
  // At the present values of its variables. Not for several threads at once.
  double value() const;

  // "problem.density = "1/x"", for messages.
  std::string description() const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  std::string parameter_, text_;
};

}  // namespace octant
