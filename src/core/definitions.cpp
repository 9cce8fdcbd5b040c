#include "core/definitions.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant {

void Definitions::declare(ParameterSchema& schema, const std::string& section) {
  section_ = section;
  schema.add(
      section + ".constants", constants_,
      {.meaning = "Named constants for the expressions of the same section, a table of names and "
                  "numbers or constant expressions; each entry may use earlier ones",
       .are_constants = true});
  schema.add(section + ".terms", terms_,
             {.meaning = "Named terms for the expressions of the same section, a table of names "
                         "and expressions; each entry may use earlier ones"});
  schema.add(
      section + ".tables", tables_,
      {.meaning =
           "Named functions of one argument, a table of names and text files: f = \"file\" defines "
           "f(r) by linear interpolation between the lines \"r value\" of the file"});
}

void Definitions::compile(ExpressionNames& names) {
  for (const std::string& definition : tables_) {
    const auto [name, path] = split_definition(section_ + ".tables", definition);
    names.add_table(section_ + ".tables." + name, name, path);
  }
  compile_constants(names);
  values_.resize(terms_.size());
  for (std::size_t n = 0; n < terms_.size(); ++n) {
    const auto [name, text] = split_definition(section_ + ".terms", terms_[n]);
    const std::string parameter = section_ + ".terms." + name;
    compiled_.emplace_back(parameter, text, names);
    names.add_variable(parameter, name, &values_[n]);
  }
}

void Definitions::compile_constants(ExpressionNames& names) const {
  for (const std::string& definition : constants_) {
    const auto [name, text] = split_definition(section_ + ".constants", definition);
    const std::string parameter = section_ + ".constants." + name;
    const Expression constant(parameter, text, names);
    if (!constant.is_constant())
      throw InputError("{} is not constant in space and time; move it to {}.terms",
                       constant.description(), section_);
    names.add_constant(parameter, name, constant.value());
  }
}

void Definitions::evaluate() const {
  for (std::size_t n = 0; n < compiled_.size(); ++n) values_[n] = compiled_[n].value();
}

void Definitions::visit_terms(const TermVisitor& visit) const {
  for (std::size_t n = 0; n < compiled_.size(); ++n) {
    const auto [name, text] = split_definition(section_, terms_[n]);
    visit(name, text, &values_[n]);
  }
}

bool Definitions::uses(const std::string& variable) const {
  return std::ranges::any_of(
      compiled_, [&](const Expression& expression) { return expression.uses(variable); });
}

}  // namespace octant
