#include "core/lattice_expressions.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace octant {

namespace {

// Returns the position of the closing parenthesis for the one at `position`.
std::size_t closing(const std::string& text, std::size_t position) {
  int depth = 0;
  for (;; ++position) {
    depth += (text[position] == '(') - (text[position] == ')');
    if (depth == 0) return position;
  }
}

// Returns the function name at the end of a text, or an empty string.
std::string function_before(const std::string& text) {
  const auto is_part = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return {std::find_if_not(text.rbegin(), text.rend(), is_part).base(), text.end()};
}

}  // namespace

void LatticeExpressions::Dependence::add(const Dependence& other) {
  for (int d = 0; d < 3; ++d) along[d] = along[d] || other.along[d];
  with_time = with_time || other.with_time;
}

bool LatticeExpressions::Dependence::is_proper_subset_of(const Dependence& other) const {
  bool is_less = other.with_time && !with_time, is_more = with_time && !other.with_time;
  for (int d = 0; d < 3; ++d) {
    is_less = is_less || (other.along[d] && !along[d]);
    is_more = is_more || (along[d] && !other.along[d]);
  }
  return is_less && !is_more;
}

void LatticeExpressions::add_function(const std::string& parameter, const std::string& name,
                                      PositionFunction value) {
  double* result = &results_.emplace_back(0.0);
  names_.add_variable(parameter, name, result);
  nodes_.push_back({.name = name,
                    .value =
                        [this, value = std::move(value)] {
                          return value({point_.x, point_.y, point_.z});
                        },
                    .result = result,
                    .dependence = {{true, true, true}, false}});
  numbers_[name] = static_cast<int>(nodes_.size()) - 1;
}

void LatticeExpressions::add_terms(const Definitions& definitions) {
  names_and_parts_ = names_;
  definitions.visit_terms([&](const std::string& name, const std::string& text, double* result) {
    add_node(name, text, result);
  });
}

int LatticeExpressions::add(const std::string& parameter, const std::string& text) {
  const Expression& whole = expressions_.emplace_back(parameter, text, names_);
  add_node("", text, nullptr);
  nodes_.back().whole = &whole;
  return static_cast<int>(nodes_.size()) - 1;
}

// Uses only the names in the text: compiling every part of an expression would take quadratic time
// in its length.
LatticeExpressions::Dependence LatticeExpressions::dependence_of(const std::string& text) const {
  const std::set<std::string> used = names_in(text);
  Dependence dependence{.with_time = used.contains("t")};
  const char* const axes[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d) dependence.along[d] = used.contains(axes[d]) || used.contains("r");
  for (const std::string& name : used)
    if (const auto node = numbers_.find(name); node != numbers_.end())
      dependence.add(nodes_[node->second].dependence);
  return dependence;
}

void LatticeExpressions::add_node(const std::string& name, const std::string& text,
                                  double* result) {
  Node node{.name = name, .value = {}, .result = result, .dependence = dependence_of(text)};
  const Expression& rest =
      remainders_.emplace_back(name, without_parts(text, node.dependence), names_and_parts_);
  node.value = [&rest] { return rest.value(); };
  node.uses_distance = rest.uses("r");
  for (const std::string& used : names_in(rest.text()))
    if (const auto other = numbers_.find(used); other != numbers_.end())
      node.uses.push_back(other->second);
  if (!name.empty()) numbers_[name] = static_cast<int>(nodes_.size());
  nodes_.push_back(std::move(node));
}

// Replaces the parts of a text that depend on fewer variables than the whole by names of nodes.
std::string LatticeExpressions::without_parts(const std::string& text, const Dependence& whole) {
  std::string rest;
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n] != '(') {
      rest += text[n];
      continue;
    }
    const std::size_t end = closing(text, n);
    const std::string function = function_before(rest);
    const std::string group = function + text.substr(n, end + 1 - n);
    rest.resize(rest.size() - function.size());
    if (dependence_of(group).is_proper_subset_of(whole)) rest += add_part(group);
    else rest += function + '(' + without_parts(text.substr(n + 1, end - n - 1), whole) + ')';
    n = end;
  }
  return rest;
}

std::string LatticeExpressions::add_part(const std::string& text) {
  double* result = &results_.emplace_back(0.0);
  std::string name = fmt::format("part{}", results_.size());
  while (names_and_parts_.has(name)) name += '_';
  add_node(name, text, result);
  names_and_parts_.add_variable("", name, result);
  return name;
}

void LatticeExpressions::evaluate(LatticeValues& values, double time) const {
  const bool begins = values.tables_.empty();
  values.tables_.resize(nodes_.size());
  point_.t = time;
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    if (begins || nodes_[n].dependence.with_time) evaluate(nodes_[n], values, values.tables_[n]);
}

void LatticeExpressions::evaluate(const Node& node, LatticeValues& values,
                                  LatticeValues::Table& table) const {
  const auto& along = values.lattice_.along;
  std::array<std::size_t, 3> count;
  for (int d = 0; d < 3; ++d) count[d] = node.dependence.along[d] ? along[d].size() : 1;
  const std::array<std::size_t, 3> product{1, count[0], count[0] * count[1]};
  for (int d = 0; d < 3; ++d) table.stride[d] = node.dependence.along[d] ? product[d] : 0;
  table.values.resize(product[2] * count[2]);
  double* next = table.values.data();
  std::array<std::size_t, 3> index;
  for (index[2] = 0; index[2] < count[2]; ++index[2])
    for (index[1] = 0; index[1] < count[1]; ++index[1])
      for (index[0] = 0; index[0] < count[0]; ++index[0]) {
        const std::array position{along[0][index[0]], along[1][index[1]], along[2][index[2]]};
        if (node.uses_distance) point_.set(position, centre_, point_.t);
        else point_.x = position[0], point_.y = position[1], point_.z = position[2];
        for (const int used : node.uses) *nodes_[used].result = *values[used].from(index);
        *next++ = node.value();
      }
}

}  // namespace octant
