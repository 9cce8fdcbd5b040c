#include "core/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include <fmt/ranges.h>
#ifdef OCTANT_MUPARSER
#include <muParser.h>
#endif

#include "core/error.hpp"
#include "core/names.hpp"
#include "core/parameters.hpp"

namespace octant {

#ifdef OCTANT_MUPARSER

class FunctionTable {
 public:
  FunctionTable(const std::string& path, const std::string& parameter, const TextReader& read) {
    for (const auto& [line, numbers] : read_number_lines(path, parameter, read)) {
      if (numbers.size() != 2)
        throw InputError("{}: expected two numbers, found {}", line, numbers.size());
      if (!x_.empty() && numbers[0] <= x_.back())
        throw InputError("{}: the first column must be strictly increasing, but {} follows {}",
                         line, numbers[0], x_.back());
      x_.push_back(numbers[0]);
      values_.push_back(numbers[1]);
    }
    if (x_.empty()) throw InputError("the table '{}' ({}) contains no numbers", path, parameter);
  }

  // Callback for muParser.
  static double value_at(void* table, double x) {
    const auto& [arguments, values] = *static_cast<const FunctionTable*>(table);
    if (std::isnan(x)) return x;
    const TableInterval interval = find_interval(arguments, x);
    return interval.between(values[interval.below], values[interval.above]);
  }

 private:
  std::vector<double> x_, values_;
};

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> known = [] {
    const mu::Parser parser;
    std::vector<std::string> names;
    for (const auto& function : parser.GetFunDef()) names.push_back(function.first);
    return names;
  }();
  return known;
}

// Throws an error that shows the expression and a caret below the byte position.
[[noreturn]] void refuse(const std::string& parameter, const std::string& text,
                         std::size_t position, const std::string& fault) {
  std::string line = text;
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return std::iscntrl(c); }, ' ');
  constexpr std::size_t k_shown = 400;  // bytes around the error
  if (line.size() > k_shown) {
    const std::size_t first =
        std::min(position, line.size()) > k_shown / 2 ? position - k_shown / 2 : 0;
    line = line.substr(std::min(first, line.size()), k_shown);
    position -= first;
  }
  const auto begins_letter = [](unsigned char c) { return (c & 0xc0) != 0x80; };  // in UTF-8
  const auto column =
      std::count_if(line.begin(), line.begin() + std::min(position, line.size()), begins_letter);
  throw InputError("{}: {}\n  {}\n  {:>{}}", parameter, fault, line, '^', column + 1);
}

// Rejects assignments, by which muParser would set a variable.
void forbid_assignment(const std::string& parameter, const std::string& text) {
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '=') continue;
    if (n + 1 < text.size() && text[n + 1] == '=') ++n;
    else if (n == 0 || std::string("<>!").find(text[n - 1]) == std::string::npos)
      refuse(parameter, text, n,
             "assignments with \"=\" are not supported; use \"==\" for comparisons");
  }
}

// Rejects the character that ends a text for muParser, which would ignore the rest.
void forbid_null(const std::string& parameter, const std::string& text) {
  const std::size_t position = text.find('\0');
  if (position != std::string::npos)
    refuse(parameter, text, position, "the expression contains the character \\u0000");
}

// Rejects **, which muParser parses incorrectly.
void forbid_double_stars(const std::string& parameter, const std::string& text) {
  const std::size_t position = text.find("**");
  if (position != std::string::npos) refuse(parameter, text, position, "write powers as x^2");
}

// Limits nesting, because LatticeExpressions resolves parentheses by recursion.
void forbid_deep_nesting(const std::string& parameter, const std::string& text) {
  int depth = 0;
  for (std::size_t n = 0; n < text.size(); ++n) {
    depth += (text[n] == '(') - (text[n] == ')');
    if (depth > k_deepest_parentheses)
      refuse(parameter, text, n,
             fmt::format("parentheses are nested too deep; expected at most {}",
                         k_deepest_parentheses));
  }
}

// Returns Octant's notation for an operator or function of other languages; empty if there is none.
std::string written_here(const std::string& name) {
  static const std::map<std::string, std::string> others{{"pow", "x^y"},
                                                         {"fabs", "abs"},
                                                         {"and", "&&"},
                                                         {"or", "||"},
                                                         {"not", "== 0"},
                                                         {"true", "1"},
                                                         {"false", "0"},
                                                         {"if", "condition ? this : that"},
                                                         {"where", "condition ? this : that"}};
  const auto found = others.find(name);
  return found == others.end() ? "" : found->second;
}

std::string fault_of(const mu::ParserError& error, const ExpressionNames& names) {
  std::string token = error.GetToken();
  token.erase(token.find_last_not_of(' ') + 1);
  switch (error.GetCode()) {
    case mu::ecEMPTY_EXPRESSION: return "the expression is empty";
    case mu::ecUNEXPECTED_EOF: return "the expression is incomplete";
    case mu::ecMISSING_PARENS: return "unbalanced parenthesis";
    case mu::ecEXPRESSION_TOO_LONG:
      return fmt::format("the expression is too long; expected at most {} characters",
                         static_cast<int>(mu::MaxLenExpression));
    case mu::ecMISSING_ELSE_CLAUSE: return "\"?\" requires \":\" and an expression after it";
    case mu::ecTOO_MANY_PARAMS: return fmt::format("too many values for {}()", token);
    case mu::ecTOO_FEW_PARAMS: return fmt::format("too few values for {}()", token);
    case mu::ecUNASSIGNABLE_TOKEN: {
      if (!is_name(token)) break;
      auto known = names.all();
      const auto& functions = function_names();
      if (contains(functions, token) || names.is_table(token))
        return fmt::format("the function {} requires parentheses", token);
      if (const std::string ours = written_here(token); !ours.empty())
        return fmt::format("write \"{}\" as {}", token, ours);
      known.insert(known.end(), functions.begin(), functions.end());
      const std::string close = close_name(token, known);
      if (!close.empty())
        return fmt::format("unknown name \"{}\"; did you mean \"{}\"?", token, close);
      return fmt::format("unknown name \"{}\"; expected one of {}", token,
                         fmt::join(names.all(), ", "));
    }
    default: break;
  }
  return token.empty() ? "this is not valid here" : fmt::format("\"{}\" is not valid here", token);
}

}  // namespace

bool has_expressions() { return true; }

// --- names ---------------------------------------------------------------------------------------

void ExpressionNames::add_constant(const std::string& parameter, const std::string& name,
                                   double value) {
  add(parameter, name, value);
}

void ExpressionNames::add_variable(const std::string& parameter, const std::string& name,
                                   double* value) {
  add(parameter, name, value);
}

void ExpressionNames::add_table(const std::string& parameter, const std::string& name,
                                const std::string& path, const TextReader& read) {
  add(parameter, name, std::make_shared<FunctionTable>(path, parameter, read));
}

std::vector<std::string> ExpressionNames::all() const {
  std::vector<std::string> names;
  for (const auto& kind : in_order_) names.insert(names.end(), kind.begin(), kind.end());
  return names;
}

bool ExpressionNames::is_table(const std::string& name) const {
  return contains(in_order_[2], name);
}

void ExpressionNames::add(const std::string& parameter, const std::string& name, Meaning meaning) {
  require_name(parameter, name);
  const bool is_function = contains(function_names(), name);
  if (is_function || has(name))
    throw InputError("{}: the name \"{}\" is already in use{}", parameter, name,
                     is_function ? " by a function" : "");
  in_order_[meaning.index()].push_back(name);
  meanings_.emplace(name, std::move(meaning));
}

std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  for (std::size_t n = 0; n < text.size();) {
    std::size_t end = n;
    if (is_letter(text[n])) {
      while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
      names.insert(text.substr(n, end - n));
    } else if (is_digit(text[n]) || text[n] == '.') {
      while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
      std::size_t power = end;
      if (power < text.size() && (text[power] == 'e' || text[power] == 'E')) {
        ++power;
        if (power < text.size() && (text[power] == '+' || text[power] == '-')) ++power;
        if (power < text.size() && is_digit(text[power])) {
          while (power < text.size() && is_digit(text[power])) ++power;
          end = power;
        }
      }
    } else {
      ++end;
    }
    n = end;
  }
  return names;
}

ExpressionNames ExpressionPoint::names() {
  ExpressionNames names;
  names.add_constant("", "pi", M_PI);
  names.add_variable("", "x", &x);
  names.add_variable("", "y", &y);
  names.add_variable("", "z", &z);
  names.add_variable("", "r", &r);
  names.add_variable("", "t", &t);
  return names;
}

void ExpressionPoint::set(const std::array<double, 3>& position,
                          const std::array<double, 3>& centre, double time) {
  x = position[0], y = position[1], z = position[2], t = time;
  const double dx = x - centre[0], dy = y - centre[1], dz = z - centre[2];
  r = std::sqrt(dx * dx + dy * dy + dz * dz);
}

std::pair<std::string, std::string> split_definition(const std::string& parameter,
                                                     const std::string& definition) {
  const auto trimmed = [](const std::string& text) {
    const auto first = text.find_first_not_of(' ');
    return first == std::string::npos ? ""
                                      : text.substr(first, text.find_last_not_of(' ') + 1 - first);
  };
  const auto equals = definition.find('=');
  if (equals == std::string::npos)
    throw InputError("{}: \"{}\": expected \"name = expression\"", parameter, definition);
  return {trimmed(definition.substr(0, equals)), trimmed(definition.substr(equals + 1))};
}

// --- expressions ---------------------------------------------------------------------------------

struct Expression::Compiled {
  mu::Parser parser;
  std::vector<std::shared_ptr<FunctionTable>> tables;  // referenced by the parser
  std::set<std::string> used;                          // names of variables
  bool is_constant = false;
  double constant = 0.0;
};

Expression::Expression(const std::string& parameter, const std::string& text,
                       const ExpressionNames& names)
    : compiled_(std::make_unique<Compiled>()), parameter_(parameter), text_(text) {
  forbid_null(parameter, text_);
  forbid_assignment(parameter, text_);
  forbid_double_stars(parameter, text_);
  forbid_deep_nesting(parameter, text_);
  mu::Parser& parser = compiled_->parser;
  try {
    // Prevents reordering, such as a x + b x into (a + b) x.
    parser.EnableOptimizer(false);
    for (const std::string& name : names_in(text_)) {
      const auto found = names.meanings_.find(name);
      if (found == names.meanings_.end()) continue;
      if (const auto* value = std::get_if<double>(&found->second)) parser.DefineConst(name, *value);
      if (const auto* variable = std::get_if<double*>(&found->second))
        parser.DefineVar(name, *variable);
      if (const auto* table = std::get_if<std::shared_ptr<FunctionTable>>(&found->second)) {
        parser.DefineFunUserData(name, FunctionTable::value_at, table->get());
        compiled_->tables.push_back(*table);
      }
    }
    parser.SetExpr(text_);
    compiled_->constant = parser.Eval();  // compiles
    for (const auto& variable : parser.GetUsedVar()) compiled_->used.insert(variable.first);
    compiled_->is_constant = compiled_->used.empty();
  } catch (const mu::ParserError& error) {
    const auto position =
        error.GetPos() < 0 ? text_.size() : static_cast<std::size_t>(error.GetPos());
    refuse(parameter, text_, position, fault_of(error, names));
  }
  if (parser.GetNumResults() > 1)
    refuse(parameter, text_, text_.find(','), "one value is expected, not several");
}

Expression::Expression(Expression&&) noexcept = default;
Expression::~Expression() = default;

bool Expression::uses(const std::string& variable) const {
  return compiled_->used.contains(variable);
}

bool Expression::is_constant() const { return compiled_->is_constant; }

double Expression::value() const {
  return is_constant() ? compiled_->constant : compiled_->parser.Eval();
}

std::string Expression::description() const {
  return fmt::format("{} = \"{}\"", parameter_, text_);
}

#else  // built without muParser: expressions are rejected

bool has_expressions() { return false; }

void ExpressionNames::add_constant(const std::string&, const std::string&, double) {}
void ExpressionNames::add_variable(const std::string&, const std::string&, double*) {}
void ExpressionNames::add_table(const std::string&, const std::string&, const std::string&,
                                const TextReader&) {}
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
      "{} is an expression, but this program was built without muParser; configure it with "
      "-DOCTANT_MUPARSER=ON",
      parameter);
}
Expression::Expression(Expression&&) noexcept = default;
Expression::~Expression() = default;
bool Expression::uses(const std::string&) const { return false; }
bool Expression::is_constant() const { return true; }
double Expression::value() const { return 0.0; }
std::string Expression::description() const { return {}; }

#endif

void Definitions::declare(ParameterSchema& schema, const std::string& section) {
  section_ = section;
  schema.add(
      section + ".constants", constants_,
      {.meaning = "Named constants for the expressions in the same section: a table that maps "
                  "names to numbers or constant expressions; each entry may use earlier ones",
       .is_table = true,
       .are_constants = true});
  schema.add(section + ".terms", terms_,
             {.meaning = "Named sub-expressions for use in the expressions of the same section: a "
                         "table that maps names to expressions; each entry may use earlier ones",
              .is_table = true});
  schema.add(section + ".tables", tables_,
             {.meaning = "Named functions of one argument: a table that maps names to two-column "
                         "text files; f = \"file\" defines f(r) by linear interpolation between "
                         "the rows of the columns r and f(r)",
              .is_table = true,
              .is_data_file = true});
}

void Definitions::compile(ExpressionNames& names, const TextReader& read) {
  for (const std::string& definition : tables_) {
    const auto [name, path] = split_definition(section_ + ".tables", definition);
    names.add_table(section_ + ".tables." + name, name, path, read);
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
