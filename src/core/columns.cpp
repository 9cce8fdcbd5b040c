#include "core/columns.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/names.hpp"

namespace octant {

namespace {

void append_name(std::string& list, const std::string& name) {
  OCTANT_REQUIRE(is_name(name), "a column is called \"{}\"; expected {}", printable(name),
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
