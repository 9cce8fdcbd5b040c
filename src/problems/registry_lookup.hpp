// Finding a problem among the registered ones by its name (private to problems/).
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/nearest.hpp"

namespace octant::problems {

template <class Kind>
struct Entry {
  const char* name;
  std::unique_ptr<Kind> (*make)();
};

template <class Kind>
std::vector<std::string> names_of(std::span<const Entry<Kind>> entries) {
  std::vector<std::string> names;
  for (const Entry<Kind>& entry : entries) names.emplace_back(entry.name);
  return names;
}

// Throws InputError that lists the names, the nearest one first.
template <class Kind>
std::unique_ptr<Kind> make_named(std::span<const Entry<Kind>> entries, const std::string& name) {
  for (const Entry<Kind>& entry : entries)
    if (name == entry.name) return entry.make();

  std::vector<std::string> names = names_of(entries);
  const auto nearest = std::find(names.begin(), names.end(), nearest_name(name, names));
  std::rotate(names.begin(), nearest, nearest + 1);
  throw InputError("problem.name = \"{}\": there is no such problem; expected one of {}", name,
                   fmt::join(names, ", "));
}

}  // namespace octant::problems
