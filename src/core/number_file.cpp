#include "core/number_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

namespace {

std::vector<double> numbers_of_line(std::string line, const std::string& location) {
  line.erase(std::min(line.find('#'), line.size()));
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream words(line);
  std::vector<double> values;
  for (std::string word; words >> word;) {
    std::size_t used = 0;
    double value = NAN;
    try {
      value = std::stod(word, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (used != word.size() || !std::isfinite(value))
      throw InputError("{}: expected numbers, found \"{}\"", location, word);
    values.push_back(value);
  }
  return values;
}

}  // namespace

void reject_special_file(const std::string& path) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status) ||
      std::filesystem::is_directory(status))
    return;
  throw InputError(
      "'{}' is a pipe, a device or a socket; expected a regular file, or a link to one", path);
}

std::optional<std::string> read_text_file(const std::string& path) {
  reject_special_file(path);
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text;
  std::vector<char> part(1 << 16);
  do {
    file.read(part.data(), std::ssize(part));
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) return std::nullopt;
  return text;
}

std::vector<NumberLine> read_number_lines(const std::string& path, const std::string& parameter,
                                          const TextReader& read) {
  const std::optional<std::string> text = read(path);
  if (!text) throw InputError("cannot read the table '{}' ({})", path, parameter);
  std::istringstream file(*text);
  std::vector<NumberLine> lines;
  int n = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string location = fmt::format("{}:{}", path, ++n);
    std::vector<double> numbers = numbers_of_line(line, location);
    if (!numbers.empty()) lines.push_back({location, std::move(numbers)});
  }
  return lines;
}

TableInterval find_interval(const std::vector<double>& values, double x) {
  if (x <= values.front()) return {0, 0, 0.0};
  if (x >= values.back()) return {values.size() - 1, values.size() - 1, 0.0};
  const auto above =
      static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), x) - values.begin());
  return {above - 1, above, (x - values[above - 1]) / (values[above] - values[above - 1])};
}

namespace {

void append_name(std::string& list, const std::string& name) {
  OCTANT_REQUIRE(is_name(name), "\"{}\" is not a valid column name; expected {}", printable(name),
                 k_expected_name);
  if (!list.empty()) list += ',';
  list += name;
}

void append(std::string& list, const std::string& item) {
  if (!list.empty()) list += ',';
  list += item;
}

}  // namespace

void Columns::add(const std::string& name, double value) {
  append_name(names_, name);
  append(values_, fmt::format("{}", value));
}

void Columns::add(const std::string& name, std::int64_t value) {
  append_name(names_, name);
  append(values_, fmt::format("{}", value));
}

void Columns::add_vector(const std::string& name, std::span<const double, 3> components) {
  for (int axis = 0; axis < 3; ++axis) add(name + "_" + "xyz"[axis], components[axis]);
}

void Columns::add_numbered(const std::string& name, std::span<const std::int64_t> values) {
  for (std::size_t n = 0; n < values.size(); ++n) add(fmt::format("{}_{}", name, n), values[n]);
}

}  // namespace octant
