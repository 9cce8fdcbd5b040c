#include "core/parameter_input.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/parameters.hpp"

namespace octant {

namespace {

// Maximum size of a parameter file; a larger file was probably given by mistake.
constexpr std::uintmax_t k_most_bytes = 4 << 20;
// Maximum number of dots in a key, because each nests a table, which toml++ resolves by recursion.
constexpr std::ptrdiff_t k_most_dots = 4000;

// Reason why a path is not a parameter file, or "".
std::string obstacle(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::directory) return "this is a directory";
  if (error || !std::filesystem::exists(status))
    return std::strerror(error ? error.value() : ENOENT);
  if (!std::filesystem::is_regular_file(status)) return "this is not a regular file";
  const auto bytes = std::filesystem::file_size(path, error);
  if (error) return error.message();
  if (bytes == 0) return "the file is empty";
  if (bytes > k_most_bytes)
    return fmt::format("the file has {} bytes; is this a parameter file?", bytes);
  return "";
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

// Parses the value of an override. Text that is not TOML becomes a string, which avoids double
// quoting in a shell. Numbers and dates are also returned as "text", for parameters that are
// strings: 0x4 is an integer of TOML and a process grid.
toml::table parse_override(const std::string& value) {
  const toml::table text{{"value", value}};
  try {
    toml::table table = toml::parse("value = " + value);
    if (table.size() != 1) return text;
    const toml::node& parsed = *table.get("value");
    if (parsed.is_value() && !parsed.is_string() && !parsed.is_boolean())
      table.insert("text", value);
    return table;
  } catch (const toml::parse_error&) {
    return text;
  }
}

// Returns a hint if the line of a syntax error contains a quantity or an expression without
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
  return fmt::format("; quantities and expressions require quotation marks: {} = \"{}\"",
                     parts[1].str(), parts[2].str());
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  const auto last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

}  // namespace

std::string read_parameter_file(const std::string& path) {
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

std::string ParameterInput::source_location(const toml::source_region& region) const {
  return fmt::format("{}:{}", source_, region.begin.line);
}

void ParameterInput::collect_file(const std::string& text) {
  require_shallow_keys(text, source_);
  try {
    tables_.push_back(toml::parse(text));
  } catch (const toml::parse_error& failure) {
    // toml++ also reports control characters for a string that ends at the end of a line.
    const bool may_be_open = failure.description().find("control char") != std::string_view::npos;
    throw InputError("{}: not valid TOML: {}{}", source_location(failure.source()),
                     failure.description(),
                     may_be_open ? "; check for a missing closing quotation mark"
                                 : hint_for(text, failure.source().begin.line));
  }
  // Sorts keys by position in the file, because toml++ sorts them alphabetically and errors must
  // refer to the first wrong line.
  std::vector<std::pair<toml::source_position, GivenValue>> found;
  const auto collect = [&](const toml::key& key, const toml::node& node,
                           const std::string& section) {
    found.push_back(
        {key.source().begin, {section + std::string(key), &node, source_location(key.source())}});
  };
  for (const auto& [key, node] : tables_.back()) {
    const auto* section = node.as_table();
    if (section == nullptr) {
      collect(key, node, "");
      continue;
    }
    sections_.push_back({std::string(key), source_location(key.source())});
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
  const toml::table& table = tables_.back();
  GivenValue given{name, table.get("value"), "--set " + assignment, table.get("text")};
  const auto same_name = [&](const GivenValue& other) { return other.name == name; };
  const auto previous = std::find_if(values_.begin(), values_.end(), same_name);
  if (previous != values_.end()) {
    *previous = std::move(given);
  } else {
    values_.push_back(std::move(given));
  }
}

namespace {

std::string as_toml(const toml::node& value) {
  if (const auto* number = value.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* list = value.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *list) items.push_back(as_toml(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::ostringstream text;
  text << toml::toml_formatter(value, toml::format_flags::none);
  return text.str();
}

}  // namespace

std::vector<ParameterDifference> parameter_differences(const std::string& first,
                                                       const std::string& first_source,
                                                       const std::string& second) {
  const ParameterInput before = ParameterInput::from_text(first, first_source, {});
  const ParameterInput after = ParameterInput::from_text(second, "the parameters of this run", {});
  std::vector<ParameterDifference> differences;
  for (const GivenValue& given : after.values()) {
    const GivenValue* stored = before.find(given.name);
    if (stored == nullptr) continue;
    const std::string one = as_toml(*stored->value), other = as_toml(*given.value);
    if (one != other) differences.push_back({given.name, one, other});
  }
  return differences;
}

}  // namespace octant
