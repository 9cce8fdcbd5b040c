// Enumerations whose values have names, for parameter files and messages. The names are given once,
// beside the enumeration and in the order of its values, which count from 0:
//
//   enum class Scheme { muscl_hancock, rk2, rk3 };
//   constexpr auto names_of(Scheme) { return std::array{"muscl_hancock", "rk2", "rk3"}; }
//
// A parameter of this type is declared as any other one: `schema.add("hydro.scheme", scheme, ...)`
// (core/parameters.hpp).
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace octant {

template <class E>
concept Named = std::is_enum_v<E> && requires(E value) {
  names_of(value).size();
};

template <Named E>
std::string name_of(E value) {
  return names_of(value).at(static_cast<std::size_t>(value));
}

// All values, in order.
template <Named E>
constexpr auto values_of() {
  std::array<E, names_of(E{}).size()> values{};
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<E>(n);
  return values;
}

// Their names.
template <Named E>
std::vector<std::string> names_of_all() {
  const auto names = names_of(E{});
  return {names.begin(), names.end()};
}

// The value that has this name, if there is one.
template <Named E>
std::optional<E> value_named(std::string_view name) {
  for (const E value : values_of<E>())
    if (name == names_of(value)[static_cast<std::size_t>(value)]) return value;
  return std::nullopt;
}

// One of the three directions of space.
enum class Axis { x, y, z };
constexpr auto names_of(Axis) { return std::array{"x", "y", "z"}; }
constexpr int index_of(Axis axis) { return static_cast<int>(axis); }

}  // namespace octant
