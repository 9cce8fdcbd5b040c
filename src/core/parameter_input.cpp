#include "core/parameter_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "core/error.hpp"

namespace octant {

namespace {

// What no parameter file reaches: a larger one is something else, given by mistake.
constexpr std::uintmax_t k_most_bytes = 4 << 20;
// Every dot of a key nests a table, which toml++ takes apart by recursion.
constexpr std::ptrdiff_t k_most_dots = 4000;

// What keeps a path from being a parameter file, or "".
std::string obstacle(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::directory) return "it is a folder";
  if (error || !std::filesystem::exists(status))
    return std::strerror(error ? error.value() : ENOENT);
  if (!std::filesystem::is_regular_file(status)) return "it is no regular file";
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return error.message();
  if (bytes == 0) return "it is empty";
  if (bytes > k_most_bytes) return fmt::format("it has {} bytes; is this a parameter file?", bytes);
  return "";
}

std::string contents(const std::string& path) {
  std::string reason = obstacle(path);
  std::string text;
  if (reason.empty()) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) reason = std::strerror(errno == 0 ? EIO : errno);
  }
  if (!reason.empty()) throw InputError("cannot read the parameter file {}: {}", path, reason);
  return text;
}

void require_shallow_keys(const std::string& text, const std::string& source) {
  int number = 1;
  for (auto begin = text.begin(); begin != text.end(); ++number) {
    const auto end = std::find(begin, text.end(), '\n');
    const auto dots = std::count(begin, end, '.');
    if (dots > k_most_dots)
      throw InputError(
          "{}:{}: {} dots in one line; expected keys of the form section.key; long lists may "
          "continue on the next line",
          source, number, dots);
    begin = end == text.end() ? end : end + 1;
  }
}

// The value of an override. What is not TOML is text, so that nobody must quote twice in a shell.
toml::table parse_override(const std::string& value) {
  try {
    auto table = toml::parse("value = " + value);
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
  }
  return toml::table{{"value", value}};
}

// Returns a hint if the line of a syntax error holds a quantity or an expression without
// quotation marks; otherwise empty.
std::string hint_for(const std::string& text, std::uint32_t number) {
  auto begin = text.begin();
  for (; number > 1 && begin != text.end(); --number) {
    begin = std::find(begin, text.end(), '\n');
    if (begin != text.end()) ++begin;
  }
  constexpr std::ptrdiff_t k_longest = 200;  // std::regex recurses
  const auto end = std::find(begin, text.end(), '\n');
  if (end - begin > k_longest) return "";
  static const std::string name = R"re(\s*([A-Za-z0-9_.-]+)\s*=\s*)re";
  static const std::string number_and_more =
      R"re(([-+(]*[0-9.][-+0-9.eE]*[ */^()A-Za-z%][^"'#,]*[^"'#,\s]))re";
  static const std::regex pattern(name + number_and_more + R"re(\s*(#.*)?)re");
  std::smatch parts;
  const std::string line(begin, end);
  if (!std::regex_match(line, parts, pattern)) return "";
  return fmt::format("; quantities and expressions are texts: {} = \"{}\"", parts[1].str(),
                     parts[2].str());
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  const auto last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

ParameterInput ParameterInput::from_file(const std::string& path, const Overrides& overrides) {
  return from_text(contents(path), path, overrides);
}

ParameterInput ParameterInput::from_text(const std::string& text, const std::string& source,
                                         const Overrides& overrides) {
  ParameterInput input;
  input.source_ = source;
  input.collect_file(text);
  for (const auto& assignment : overrides) input.add_override(assignment);
  return input;
}

const GivenValue* ParameterInput::find(const std::string& name) const {
  const auto same_name = [&](const GivenValue& given) { return given.name == name; };
  const auto found = std::find_if(values_.begin(), values_.end(), same_name);
  return found == values_.end() ? nullptr : &*found;
}

std::string ParameterInput::place(const toml::source_region& region) const {
  return fmt::format("{}:{}", source_, region.begin.line);
}

void ParameterInput::collect_file(const std::string& text) {
  require_shallow_keys(text, source_);
  try {
    tables_.push_back(toml::parse(text));
  } catch (const toml::parse_error& failure) {
    // Which toml++ says, too, where a line ends within a text.
    const bool may_be_open = failure.description().find("control char") != std::string_view::npos;
    throw InputError("{}: not valid TOML: {}{}", place(failure.source()), failure.description(),
                     may_be_open ? "; does the text end with its quotation mark?"
                                 : hint_for(text, failure.source().begin.line));
  }
  // toml++ keeps keys in alphabetical order; messages are about the first line that is wrong.
  std::vector<std::pair<toml::source_position, GivenValue>> found;
  const auto collect = [&](const toml::key& key, const toml::node& node,
                           const std::string& section) {
    found.push_back({key.source().begin, {section + std::string(key), &node, place(key.source())}});
  };
  for (const auto& [key, node] : tables_.back()) {
    const auto* section = node.as_table();
    if (section == nullptr) {
      collect(key, node, "");
      continue;
    }
    sections_.push_back({std::string(key), place(key.source())});
    for (const auto& [inner_key, inner_node] : *section) {
      collect(inner_key, inner_node, std::string(key) + ".");
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& entry : found) values_.push_back(std::move(entry.second));
}

void ParameterInput::add_override(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const auto name = trimmed(assignment.substr(0, equals));
  if (equals == std::string::npos || name.empty()) {
    throw InputError("--set {}: expected section.key=value", assignment);
  }
  require_shallow_keys(assignment, "--set");
  tables_.push_back(parse_override(trimmed(assignment.substr(equals + 1))));
  GivenValue given{name, tables_.back().get("value"), "--set " + assignment};
  const auto same_name = [&](const GivenValue& other) { return other.name == name; };
  const auto previous = std::find_if(values_.begin(), values_.end(), same_name);
  if (previous != values_.end()) {
    *previous = std::move(given);
  } else {
    values_.push_back(std::move(given));
  }
}

}  // namespace octant
