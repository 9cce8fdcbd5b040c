#include "particles/kind.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/error.hpp"
#include "core/names.hpp"
#include "particles/particle_set.hpp"

namespace octant::particles {

namespace {

// Kinds in their fixed order. Ids of kind n, counted from 0, begin at n * 2^62.
constexpr std::array<std::string_view, 4> k_known_kinds{"dark", "stars", "sinks", "tracers"};

// Maximum number of columns beside those of all kinds and the id.
constexpr int k_max_columns = RowWords::k_max_words - k_real_columns - 1;

std::size_t rank_of(const std::string& name) {
  return std::find(k_known_kinds.begin(), k_known_kinds.end(), name) - k_known_kinds.begin();
}

void require_sound(const Kind& kind) {
  OCTANT_REQUIRE(is_name(kind.name), "'{}' is not a valid name of a particle type; expected {}",
                 printable(kind.name), k_expected_name);
  OCTANT_REQUIRE(kind.motion != Motion::flows || !kind.has_mass,
                 "{} particles are advected by the gas and cannot have mass", kind.name);
  OCTANT_REQUIRE(std::ssize(kind.columns) <= k_max_columns,
                 "{} particles have {} columns of their own; at most {} are supported", kind.name,
                 kind.columns.size(), k_max_columns);
  std::set<std::string> taken{"id", "position", "velocity", "mass"};
  for (const Column& column : kind.columns) {
    OCTANT_REQUIRE(is_name(column.name),
                   "{} particles: '{}' is not a valid name of a column; expected {}", kind.name,
                   printable(column.name), k_expected_name);
    OCTANT_REQUIRE(!column.unit.empty() && !column.description.empty(),
                   "{} particles: the column '{}' requires a unit and a description", kind.name,
                   column.name);
    OCTANT_REQUIRE(taken.insert(column.name).second, "{} particles: the column '{}' already exists",
                   kind.name, column.name);
  }
}

}  // namespace

const Column& Kind::column(const std::string& of_name) const {
  const auto found = std::find_if(columns.begin(), columns.end(),
                                  [&](const Column& column) { return column.name == of_name; });
  OCTANT_REQUIRE(found != columns.end(), "{} particles have no column '{}'", name, of_name);
  return *found;
}

int Kind::column_index(const std::string& of_name) const {
  const Column* end = &column(of_name);
  return static_cast<int>(std::count_if(columns.data(), end, [&](const Column& column) {
    return column.is_real() == end->is_real();
  }));
}

int Kind::real_columns() const {
  return static_cast<int>(std::count_if(columns.begin(), columns.end(),
                                        [](const Column& column) { return column.is_real(); }));
}

int Kind::integer_columns() const { return static_cast<int>(columns.size()) - real_columns(); }

std::uint64_t Kind::first_id() const {
  const std::size_t rank = rank_of(name);
  return rank < k_known_kinds.size() ? rank * k_ids : 0;
}

Kind dark_matter() { return {.name = "dark", .description = "dark matter"}; }

std::vector<Kind> in_order(std::vector<Kind> kinds) {
  std::set<std::string> names;
  for (const Kind& kind : kinds) {
    require_sound(kind);
    OCTANT_REQUIRE(names.insert(kind.name).second, "two particle types have the name '{}'",
                   kind.name);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const Kind& a, const Kind& b) { return rank_of(a.name) < rank_of(b.name); });
  return kinds;
}

}  // namespace octant::particles
