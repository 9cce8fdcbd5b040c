// Fields of named values (core/named.hpp) as parameters see them: as texts.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"

namespace octant {

// What stands for a std::optional named value that is absent: the program chooses.
inline constexpr const char* k_automatic = "auto";

// A field that holds one named value, an optional one, or a list of them.
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
  std::vector<std::string> choices;                          // all that there are
  std::function<std::vector<std::string>()> get;             // one name, or those of the list
  std::function<void(const std::vector<std::string>&)> set;  // each must be one of the choices
};

}  // namespace octant
