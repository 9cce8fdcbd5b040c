#include "core/definitions.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant {

void Definitions::declare(ParameterSchema& schema, const std::string& section) {
  section_ = section;
  schema.add(section + ".constants", constants_,
             {.meaning = "A table of numbers by name, for all expressions of this section; each "
                         "may use those before it"});
  schema.add(section + ".terms", terms_,
             {.meaning = "A table of expressions by name, for the others of this section; each may "
                         "use those before it"});
  schema.add(section + ".tables", tables_,
             {.meaning = "A table of text files by name: f = \"file\" makes f(r) a function, "
                         "linear between the file's lines of an r and a value"});
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
      throw InputError("{} changes from place to place: it belongs into {}.terms",
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
