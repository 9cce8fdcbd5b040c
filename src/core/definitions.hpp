// What a section of the parameter file defines by name for its expressions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/expression.hpp"

namespace octant {

class ParameterSchema;

// `constants`, `terms` and `tables` of a section. A plain list of definitions until it is compiled;
// from then on it must stay where it is.
class Definitions {
 public:
  // SECTION.constants, SECTION.terms and SECTION.tables.
  void declare(ParameterSchema& schema, const std::string& section);

  // Adds what is defined to the names. Throws InputError, with a caret under the fault, for what is
  // no expression of the names before it, and for a constant that is none.
  void compile(ExpressionNames& names);

  // Gives the terms the values that they have at the present values of variables.
  void evaluate() const;

  // Whether a term uses a variable.
  bool uses(const std::string& variable) const;

  // The terms in their order, with where expressions read the value of that name.
  using TermVisitor =
      std::function<void(const std::string& name, const std::string& text, double* value)>;
  void visit_terms(const TermVisitor& visit) const;

 private:
  void compile_constants(ExpressionNames& names) const;

  std::string section_;
  std::vector<std::string> constants_, terms_, tables_;
  std::vector<Expression> compiled_;  // the terms
  mutable std::vector<double> values_;
};

}  // namespace octant
