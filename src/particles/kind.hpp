// Kinds of particles: dark matter, stars, and other particles of a run.
//
// A kind is data: the columns of its particles besides id, position and velocity, whether it
// gravitates, and its motion. Files and history.csv use the names of kinds and columns given here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace octant::particles {

// Additional property of a kind's particles: a real number or a 64-bit integer, by the type of its
// initial value.
struct Column {
  std::string name;         // name of one word
  std::string unit;         // "1" if dimensionless
  std::string description;  // unit and description are written to files
  // value of particles that are added without one
  std::variant<double, std::int64_t> initial = 0.0;

  // True for a real number, false for an integer.
  bool is_real() const { return std::holds_alternative<double>(initial); }
};

// Values of a column, one per particle; real ones must be finite.
using ColumnValues = std::variant<std::vector<double>, std::vector<std::int64_t>>;
using NamedColumns = std::map<std::string, ColumnValues>;

// Motion of a particle: `falls`: by gravity, if enabled; `flows`: with the velocity of the
// surrounding gas; `rests`: none.
enum class Motion { falls, flows, rests };

// Description of a particle kind.
struct Kind {
  std::string name;         // name of one word
  std::string description;  // description for reports
  std::vector<Column> columns{};
  bool has_mass = true;  // true for particles with mass, which gravitate
  Motion motion = Motion::falls;
  // true if cells around each particle are refined to the finest level; requires mass
  bool wants_finest_cells = false;

  // Returns the column of this name. Throws RunError if there is none.
  const Column& column(const std::string& of_name) const;
  // Index of a column among those of its type, for ParticleSet::extra_real(index) or
  // extra_integer(index).
  int column_index(const std::string& of_name) const;
  // Number of real columns.
  int real_columns() const;
  // Number of integer columns.
  int integer_columns() const;

  // Number of ids of a kind, which begin at first_id(). Ids of the kinds that in_order() lists are
  // distinct.
  static constexpr std::uint64_t k_ids = std::uint64_t{1} << 62;
  // First id of this kind.
  std::uint64_t first_id() const;
};

// Returns the kind for problems with dark matter.
Kind dark_matter();

// Sorts the kinds of a run into the order in which densities are added and files and reports list
// them: dark, stars, sinks, tracers, then others as given. Throws RunError if a name of a kind or
// column is empty or not unique.
std::vector<Kind> in_order(std::vector<Kind> kinds);

}  // namespace octant::particles
