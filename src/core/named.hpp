// Enumerations with named values, for parameter files and messages. The names are defined once,
// next to the enumeration and in the order of its values, which count from 0:
//
//   enum class Scheme { muscl_hancock, rk2, rk3 };
//   constexpr auto names_of(Scheme) { return std::array{"muscl_hancock", "rk2", "rk3"}; }
//
// A parameter of this type is declared like any other: `schema.add("hydro.scheme", scheme, ...)`
// (core/parameters.hpp).
#pragma once

#include <array>
#include <functional>
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

// Name of a value.
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

// All names, in order.
template <Named E>
std::vector<std::string> names_of_all() {
  const auto names = names_of(E{});
  return {names.begin(), names.end()};
}

// Returns the value of this name, if there is one.
template <Named E>
std::optional<E> value_named(std::string_view name) {
  for (const E value : values_of<E>())
    if (name == names_of(value)[static_cast<std::size_t>(value)]) return value;
  return std::nullopt;
}

// Coordinate axis.
enum class Axis { x, y, z };
// Names of the axes.
constexpr auto names_of(Axis) { return std::array{"x", "y", "z"}; }
// Index of an axis: 0, 1 or 2.
constexpr int index_of(Axis axis) { return static_cast<int>(axis); }

// Name of an absent optional value, which the program then selects.
inline constexpr const char* k_automatic = "auto";

// Reference to an option that holds one named value, an optional one, or a list of named values.
class NamedField {
 public:
  template <Named E>
  explicit NamedField(E& field)
      : choices(names_of_all<E>()),
        get([&field] { return std::vector{name_of(field)}; }),
        set([&field](const auto& names) { field = value_named<E>(names.front()).value(); }) {}

  template <Named E>
  explicit NamedField(std::optional<E>& field)
      : choices(names_of_all<E>()),
        get([&field] { return std::vector{field ? name_of(*field) : std::string(k_automatic)}; }),
        set([&field](const auto& names) { field = value_named<E>(names.front()); }) {
    choices.insert(choices.begin(), k_automatic);
  }

  template <Named E>
  explicit NamedField(std::vector<E>& field)
      : is_list(true),
        choices(names_of_all<E>()),
        get([&field] {
          std::vector<std::string> names;
          for (const E value : field) names.push_back(name_of(value));
          return names;
        }),
        set([&field](const auto& names) {
          field.clear();
          for (const std::string& name : names) field.push_back(value_named<E>(name).value());
        }) {}

  bool is_list = false;
  std::vector<std::string> choices;                          // all allowed names
  std::function<std::vector<std::string>()> get;             // names of the present values
  std::function<void(const std::vector<std::string>&)> set;  // argument: some of `choices`
};

}  // namespace octant
