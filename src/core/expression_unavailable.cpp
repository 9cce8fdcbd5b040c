// Built without muParser: whoever gives an expression is told so.
#ifndef OCTANT_MUPARSER

#include "core/error.hpp"
#include "core/expression.hpp"

namespace octant {

bool has_expressions() { return false; }

void ExpressionNames::add_constant(const std::string&, const std::string&, double) {}
void ExpressionNames::add_variable(const std::string&, const std::string&, double*) {}
void ExpressionNames::add_table(const std::string&, const std::string&, const std::string&) {}
bool ExpressionNames::is_table(const std::string&) const { return false; }
std::vector<std::string> ExpressionNames::all() const { return {}; }
std::set<std::string> names_in(const std::string&) { return {}; }

ExpressionNames ExpressionPoint::names() { return {}; }
void ExpressionPoint::set(const std::array<double, 3>&, const std::array<double, 3>&, double) {}

std::pair<std::string, std::string> split_definition(const std::string&,
                                                     const std::string& definition) {
  return {definition, ""};
}

class FunctionTable {};

struct Expression::Compiled {};
Expression::Expression(const std::string& parameter, const std::string&, const ExpressionNames&) {
  throw InputError(
      "{} is an expression, and this octant was built without muParser: configure it with "
      "-DOCTANT_MUPARSER=ON",
      parameter);
}
Expression::Expression(Expression&&) noexcept = default;
Expression::~Expression() = default;
bool Expression::uses(const std::string&) const { return false; }
bool Expression::is_constant() const { return true; }
double Expression::value() const { return 0.0; }
std::string Expression::description() const { return {}; }

}  // namespace octant

#endif
