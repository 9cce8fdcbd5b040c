#include "gravity/transfer_table.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "core/error.hpp"

namespace octant::gravity {

namespace {

// The numbers of a line, up to a comment.
std::vector<double> numbers(std::string line, const std::string& place) {
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

void check_ascending(const std::vector<double>& values, const std::string& place,
                     const char* what) {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n] <= 0.0 || (n > 0 && values[n] <= values[n - 1]))
      throw InputError("{}: {} must be positive and ascend", place, what);
}

// Where x lies among ascending values: after which of them, and how far on to the next one.
struct Place {
  std::size_t below, above;
  double weight;  // of the one above
};
Place place_of(const std::vector<double>& values, double x) {
  if (x <= values.front()) return {0, 0, 0.0};
  if (x >= values.back()) return {values.size() - 1, values.size() - 1, 0.0};
  const auto above =
      static_cast<std::size_t>(std::upper_bound(values.begin(), values.end(), x) - values.begin());
  return {above - 1, above, (x - values[above - 1]) / (values[above] - values[above - 1])};
}

double between(double a, double b, double weight) { return a + weight * (b - a); }

}  // namespace

TransferTable::TransferTable(const std::string& path, double unit) {
  std::ifstream file(path);
  if (!file) throw InputError("cannot read the table '{}' (gravity.transfer)", path);
  std::vector<double> wave_numbers;
  int n = 0;
  for (std::string line; std::getline(file, line);) {
    const std::string place = path + ":" + std::to_string(++n);
    std::vector<double> values = numbers(line, place);
    if (values.empty()) continue;
    if (scale_factors_.empty()) {
      scale_factors_ = std::move(values);
      check_ascending(scale_factors_, place, "the scale factors of the first line");
      continue;
    }
    if (values.size() != scale_factors_.size() + 1)
      throw InputError(
          "{}: expected a wave number and {} factors, one for each scale factor of the first line, "
          "found {} numbers",
          place, scale_factors_.size(), values.size());
    wave_numbers.push_back(values.front());
    check_ascending(wave_numbers, place, "wave numbers");
    log_k_.push_back(std::log(values.front() * unit));
    factors_.emplace_back(values.begin() + 1, values.end());
  }
  if (factors_.empty())
    throw InputError(
        "'{}' (gravity.transfer): expected a line of scale factors and lines of a wave number and "
        "factors",
        path);
}

double TransferTable::operator()(double k, double a) const {
  const Place row = place_of(log_k_, std::log(k)), column = place_of(scale_factors_, a);
  const auto at = [&](std::size_t n) {
    return between(factors_[n][column.below], factors_[n][column.above], column.weight);
  };
  return between(at(row.below), at(row.above), row.weight);
}

}  // namespace octant::gravity
