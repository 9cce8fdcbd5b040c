#include "pencil/line_tables.hpp"

#include <map>

namespace octant::pencil {

namespace {

// Values without repetitions, in the order of their first appearance, and where each one went.
struct Distinct {
  explicit Distinct(const std::vector<double>& all) {
    std::map<double, int> known;
    for (const double value : all) {
      const auto [found, is_new] = known.try_emplace(value, static_cast<int>(values.size()));
      if (is_new) values.push_back(value);
      places.push_back(found->second);
    }
  }
  std::vector<double> values;
  std::vector<int> places;
};

template <class Value>
std::vector<Value> joined(std::vector<Value> first, const std::vector<Value>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

LineKindTable::LineKindTable(const LineShifts& shifts) {
  const Distinct x(shifts.x), y(shifts.y);
  places_ = on_device("places of lines", joined(x.places, y.places));
  shifts_ = on_device("shifts of lines", joined(x.values, y.values));
  kinds_.distinct_x = static_cast<int>(x.values.size());
  kinds_.count = kinds_.distinct_x * static_cast<int>(y.values.size());
  kinds_.x_place = places_.data(), kinds_.y_place = kinds_.x_place + x.places.size();
  kinds_.x_shift = shifts_.data(), kinds_.y_shift = kinds_.x_shift + kinds_.distinct_x;
}

PlaneRowTable::PlaneRowTable(int planes)
    : values_(uninitialised<double>("coefficients of planes", 3 * planes)) {
  rows_.planes = planes;
  rows_.before = values_.data();
  rows_.diagonal = rows_.before + planes;
  rows_.after = rows_.diagonal + planes;
}

void PlaneRowTable::set(const PlaneCoefficients& planes) {
  copy_to_device(joined(joined(planes.before, planes.diagonal), planes.after), values_);
  rows_.shift_factor = planes.shift_factor;
}

}  // namespace octant::pencil
