// Expressions. The values of compiled expressions on a lattice, which are computed in parts, must
// have the bits of the same expressions at single points.
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/expression.hpp"
#include "core/lattice_expressions.hpp"
#include "core/parameters.hpp"
#include "fuzz.hpp"

namespace octant {

namespace {

// Definitions of lines "c NAME = CONSTANT" and "m NAME = TERM", and expressions of other lines.
struct Lines {
  std::vector<std::string> constants, terms, expressions;

  explicit Lines(std::string_view input) {
    while (!input.empty()) {
      const std::size_t end = std::min(input.find('\n'), input.size());
      const std::string line(input.substr(0, end));
      input.remove_prefix(std::min(end + 1, input.size()));
      if (line.starts_with("c ")) constants.push_back(line.substr(2));
      else if (line.starts_with("m ")) terms.push_back(line.substr(2));
      else expressions.push_back(line);
    }
  }
};

std::string quoted(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) {
    list += "'''\n";
    for (const char c : text)
      if (c != '\'' && (c >= ' ' || c == '\t')) list += c;
    list += "''', ";
  }
  return "[" + list + "]\n";
}

void declare(Definitions& definitions, const Lines& lines, ExpressionNames& names) {
  ParameterSchema schema;
  definitions.declare(schema, "problem");
  schema.read_text(
      "[problem]\nconstants = " + quoted(lines.constants) + "terms = " + quoted(lines.terms),
      "run.toml");
  definitions.compile(names, read_text_file);
}

}  // namespace

OCTANT_FUZZ(expressions, text) {
  const Lines lines(input);
  ExpressionPoint point;
  ExpressionNames names = point.names();
  Definitions definitions, on_lattice;
  declare(definitions, lines, names);
  LatticeExpressions expressions;
  declare(on_lattice, lines, expressions.names());
  expressions.add_terms(on_lattice);
  std::vector<Expression> single;
  std::vector<int> numbers;
  for (const std::string& text : lines.expressions) {
    names_in(text);
    single.emplace_back("problem.density", text, names);
    numbers.push_back(expressions.add("problem.density", text));
  }
  LatticeValues values(Lattice{{{{-0.5, 0.25}, {0.0, 1.0, 3.0}, {2.0}}}});
  expressions.evaluate(values, 0.75);
  for (std::int64_t n = 0; n < values.lattice().points(); ++n) {
    point.set(values.lattice().position(n), {}, 0.75);
    definitions.evaluate();
    for (std::size_t k = 0; k < single.size(); ++k) {
      const double one = single[k].value();
      const double other = *values[numbers[k]].from(values.lattice().index(n));
      const bool same = std::bit_cast<std::uint64_t>(one) == std::bit_cast<std::uint64_t>(other);
      if (!same && !(std::isnan(one) && std::isnan(other)))
        throw std::logic_error("the value on the lattice differs: " + std::to_string(one) + ", " +
                               std::to_string(other));
    }
  }
}

}  // namespace octant
