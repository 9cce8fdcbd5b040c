// Kinds of particles: dark matter, stars, and what else moves among the cells of a run.
//
// A kind is data: what each of its particles has beside id, place and velocity, whether it
// attracts, and what moves it. Files and history.csv name kinds and columns as they are named here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace octant::particles {

// What a particle of a kind has of its own: a real number or a whole one of 64 bits, as its initial
// value is.
struct Column {
  std::string name;                                  // a word
  std::string unit;                                  // "1" if it has none
  std::string description;                           // both go into files
  std::variant<double, std::int64_t> initial = 0.0;  // where a particle comes without a value

  bool is_real() const { return std::holds_alternative<double>(initial); }
};

// Values of a column, one per particle; real ones must be finite.
using ColumnValues = std::variant<std::vector<double>, std::vector<std::int64_t>>;
using NamedColumns = std::map<std::string, ColumnValues>;

// What gives particles their velocity: gravity, if there is some; the gas around them; or nothing:
// they stay where they are.
enum class Motion { falls, flows, rests };

struct Kind {
  std::string name;         // a word
  std::string description;  // for reports
  std::vector<Column> columns{};
  bool has_mass = true;  // and attracts
  Motion motion = Motion::falls;
  bool wants_finest_cells = false;  // around each of them; of kinds with mass

  // Its column of this name. Throws RunError if there is none.
  const Column& column(const std::string& of_name) const;
  // The place of a column among those of its type: ParticleSet::extra_real(place) or
  // extra_integer(place).
  int place(const std::string& of_name) const;
  int real_columns() const;
  int integer_columns() const;

  // The ids of a kind are first_id() and the next k_ids - 1, so that those of the kinds that
  // in_order() knows differ.
  static constexpr std::uint64_t k_ids = std::uint64_t{1} << 62;
  std::uint64_t first_id() const;
};

// What a problem that has dark matter brings.
Kind dark_matter();

// The kinds of a run in the order in which their densities are added, and that files and reports
// have: dark, stars, sinks, tracers, then others as given. Throws RunError if two have one name, or
// a kind or column has none or one that is taken.
std::vector<Kind> in_order(std::vector<Kind> kinds);

}  // namespace octant::particles
