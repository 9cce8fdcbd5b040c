#include "core/number_file.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <utility>

#include "core/error.hpp"

namespace octant {

namespace {

std::vector<double> numbers_of_line(std::string line, const std::string& place) {
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
      throw InputError("{}: expected numbers, found \"{}\"", place, word);
    values.push_back(value);
  }
  return values;
}

}  // namespace

std::vector<NumberLine> read_number_lines(const std::string& path, const std::string& parameter) {
  std::ifstream file(path);
  if (!file) throw InputError("cannot read the table '{}' ({})", path, parameter);
  std::vector<NumberLine> lines;
  int n = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string place = fmt::format("{}:{}", path, ++n);
    std::vector<double> numbers = numbers_of_line(line, place);
    if (!numbers.empty()) lines.push_back({place, std::move(numbers)});
  }
  return lines;
}

PlaceInTable place_in_table(const std::vector<double>& values, double x) {
  if (x <= values.front()) return {0, 0, 0.0};
  if (x >= values.back()) return {values.size() - 1, values.size() - 1, 0.0};
  const auto above =
      static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), x) - values.begin());
  return {above - 1, above, (x - values[above - 1]) / (values[above] - values[above - 1])};
}

}  // namespace octant
