#include "io/expectations.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "core/error.hpp"

namespace octant {
namespace {

[[noreturn]] void fail(const Hdf5Reader& file, const std::string& object, const std::string& name,
                       const std::string& problem) {
  throw InputError("'{}': {}: attribute '{}' {}", file.path(), object, name, problem);
}

template <class T>
std::vector<T> exactly(std::size_t count, const Hdf5Reader& file, const std::string& object,
                       const std::string& name) {
  auto values = file.attribute<std::vector<T>>(object, name);
  if (values.size() != count)
    fail(file, object, name, fmt::format("has {} numbers instead of {}", values.size(), count));
  return values;
}

void require_count(const Hdf5Reader& file, const std::string& object, const std::string& name,
                   std::int64_t value) {
  if (value < 0)
    fail(file, object, name, fmt::format("is {}; expected a non-negative number", value));
}

void require_finite(const Hdf5Reader& file, const std::string& object, const std::string& name,
                    double value) {
  if (!std::isfinite(value))
    fail(file, object, name, fmt::format("is {}; expected a finite number", value));
}

// Throws InputError on every rank unless all values of the given rows, distributed over the ranks,
// are finite and greater than `bound`. Collective.
void require_finite(const Hdf5Reader& file, const std::string& dataset, RowRange range,
                    const std::vector<double>& values, double bound) {
  const auto is_wrong = [bound](double x) { return !(x > bound) || !std::isfinite(x); };
  file.communicator().collective_try([&] {
    const auto wrong = std::ranges::find_if(values, is_wrong);
    if (wrong == values.end()) return;
    const std::int64_t row_elements = std::ssize(values) / range.count;
    throw InputError("'{}': {}: row {} is {}; expected a finite number{}", file.path(), dataset,
                     range.begin + (wrong - values.begin()) / row_elements, *wrong,
                     std::isfinite(bound) ? fmt::format(" above {}", bound) : "");
  });
}

}  // namespace

void require_shape(const Hdf5Reader& file, const std::string& dataset,
                   const std::vector<std::int64_t>& extents) {
  const auto shape = file.shape(dataset);
  if (shape != extents)
    throw InputError("'{}': {} has shape {}; expected {}", file.path(), dataset, shape, extents);
}

std::vector<double> read_finite(const Hdf5Reader& file, const std::string& dataset, RowRange range,
                                double bound) {
  auto values = file.read<double>(dataset, range);
  require_finite(file, dataset, range, values, bound);
  return values;
}

std::vector<double> read_finite_on_root(const Hdf5Reader& file, const std::string& dataset,
                                        double bound) {
  auto values = file.read_on_root<double>(dataset);
  require_finite(file, dataset, {0, file.shape(dataset).at(0)}, values, bound);
  return values;
}

double finite_attribute(const Hdf5Reader& file, const std::string& object,
                        const std::string& name) {
  const auto value = file.attribute<double>(object, name);
  require_finite(file, object, name, value);
  return value;
}

std::vector<double> finite_attributes(const Hdf5Reader& file, const std::string& object,
                                      const std::string& name, std::size_t count) {
  const auto values = exactly<double>(count, file, object, name);
  for (const double value : values) require_finite(file, object, name, value);
  return values;
}

std::int64_t count_attribute(const Hdf5Reader& file, const std::string& object,
                             const std::string& name) {
  const auto value = file.attribute<std::int64_t>(object, name);
  require_count(file, object, name, value);
  return value;
}

std::vector<std::int64_t> count_attributes(const Hdf5Reader& file, const std::string& object,
                                           const std::string& name, std::size_t count) {
  const auto values = exactly<std::int64_t>(count, file, object, name);
  for (const std::int64_t value : values) require_count(file, object, name, value);
  return values;
}

}  // namespace octant
