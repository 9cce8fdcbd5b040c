#include "gravity/transfer_table.hpp"

#include <cmath>
#include <utility>

#include "core/error.hpp"
#include "core/number_file.hpp"

namespace octant::gravity {

namespace {

void check_ascending(const std::vector<double>& values, const std::string& place,
                     const char* what) {
  for (std::size_t n = 0; n < values.size(); ++n)
    if (values[n] <= 0.0 || (n > 0 && values[n] <= values[n - 1]))
      throw InputError("{}: {} must be positive and ascend", place, what);
}

}  // namespace

TransferTable::TransferTable(const std::string& path, double unit) {
  std::vector<double> wave_numbers;
  for (auto& [place, values] : read_number_lines(path, "gravity.transfer")) {
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
  const PlaceInTable row = place_in_table(log_k_, std::log(k));
  const PlaceInTable column = place_in_table(scale_factors_, a);
  const auto at = [&](std::size_t n) {
    return column.between(factors_[n][column.below], factors_[n][column.above]);
  };
  return row.between(at(row.below), at(row.above));
}

}  // namespace octant::gravity
