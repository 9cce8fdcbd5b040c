// Expressions in parameter files: "1 + 9*(r < 0.15)". Operators and functions are those of muParser
// (beltoforion.de/en/muparser); comparisons give 1 or 0.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/number_file.hpp"

namespace octant {

// Returns true if this program was built with muParser. Without it every Expression throws
// InputError.
bool has_expressions();

class FunctionTable;

// Constants, variables and tables that expressions may use, by name.
class ExpressionNames {
 public:
  // Defines a constant; `parameter` is its location for error messages. Throws InputError, as the
  // other functions do, if the name is invalid or already in use, also by a function.
  void add_constant(const std::string& parameter, const std::string& name, double value);
  // Defines a variable whose value is read from an address at each evaluation.
  void add_variable(const std::string& parameter, const std::string& name, double* value);
  // Defines name(x), which interpolates linearly between the lines of a text file with x and a
  // value. Outside the range of x, the value is that of the first or last line. Throws InputError
  // with the line if x does not ascend.
  void add_table(const std::string& parameter, const std::string& name, const std::string& path,
                 const TextReader& read);

  // Names of all constants, variables and tables.
  std::vector<std::string> all() const;
  // True if the name is defined.
  bool has(const std::string& name) const { return meanings_.contains(name); }
  // True if the name is that of a table.
  bool is_table(const std::string& name) const;

 private:
  friend class Expression;
  using Meaning = std::variant<double, double*, std::shared_ptr<FunctionTable>>;
  void add(const std::string& parameter, const std::string& name, Meaning meaning);

  std::map<std::string, Meaning> meanings_;
  std::array<std::vector<std::string>, 3> in_order_;  // constants, variables, tables
};

// Returns the names in an expression, including functions, each once. The time is linear in the
// length of the text.
std::set<std::string> names_in(const std::string& text);

// Variables of expressions of position and time: x, y, z, the distance r from a centre, the time t,
// and pi. The object must not be moved while the result of names() is in use.
struct ExpressionPoint {
  double x = 0.0, y = 0.0, z = 0.0, r = 0.0, t = 0.0;

  // Returns the names, bound to the members of this object.
  ExpressionNames names();
  // Sets the variables.
  void set(const std::array<double, 3>& position, const std::array<double, 3>& centre, double time);
};

// Splits "name = text" into name and text. Throws InputError if there is no "=".
std::pair<std::string, std::string> split_definition(const std::string& parameter,
                                                     const std::string& definition);

// Maximum nesting depth of parentheses in an expression.
inline constexpr int k_deepest_parentheses = 2000;

// Expression, compiled once. The arithmetic is evaluated as written, from left to right for equal
// precedence, in double precision.
class Expression {
 public:
  // Compiles a text. Throws InputError, with the text and a caret at the error, if the text is
  // invalid, uses names that are not in `names`, or is too long or too deeply nested.
  Expression(const std::string& parameter, const std::string& text, const ExpressionNames& names);
  Expression(Expression&&) noexcept;
  ~Expression();

  // Returns true if the expression uses a variable.
  bool uses(const std::string& variable) const;
  // Returns true if the expression uses no variable.
  bool is_constant() const;
  // Evaluates the expression at the present values of its variables. Not thread-safe.
  double value() const;

  // The expression as given.
  const std::string& text() const { return text_; }
  // Returns the parameter with the text, such as problem.density = "1/x", for messages.
  std::string description() const;

 private:
  struct Compiled;
  std::unique_ptr<Compiled> compiled_;
  std::string parameter_, text_;
};

class ParameterSchema;

// Parameters `constants`, `terms` and `tables` of a section. Must not be moved after compile().
class Definitions {
 public:
  // Declares SECTION.constants, SECTION.terms and SECTION.tables.
  void declare(ParameterSchema& schema, const std::string& section);

  // Adds the definitions to the names; `read` reads tables. Throws InputError, with a caret at the
  // error, for terms that are no expressions of the names before them, and for constants that are
  // not constant.
  void compile(ExpressionNames& names, const TextReader& read);

  // Evaluates the terms at the present values of the variables.
  void evaluate() const;

  // Returns true if a term uses the variable.
  bool uses(const std::string& variable) const;

  // Function that receives the name and text of a term, and the address of the value.
  using TermVisitor =
      std::function<void(const std::string& name, const std::string& text, double* value)>;
  // Visits the terms in order. Expressions read the values from the addresses.
  void visit_terms(const TermVisitor& visit) const;

 private:
  void compile_constants(ExpressionNames& names) const;

  std::string section_;
  std::vector<std::string> constants_, terms_, tables_;
  std::vector<Expression> compiled_;  // terms
  mutable std::vector<double> values_;
};

}  // namespace octant
