// Reads particles and sinks of a binary output: part_NNNNN.outDDDDD, sink_NNNNN.csv and
// sink_NNNNN.out.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/fortran_file.hpp"
#include "io/input_files.hpp"
#include "ramses/source.hpp"

namespace octant {

namespace {

// Appends a column of a domain's `count` particles to `all`, which has `before` particles already.
void read_column(FortranFile& file, const std::string& field, std::size_t before,
                 std::int64_t count, RamsesParticles& all) {
  const char* what = field.c_str();
  const auto add = [](auto& column, const auto& values) {
    column.insert(column.end(), values.begin(), values.end());
  };
  if (field.starts_with("position_") || field.starts_with("velocity_")) {
    const std::size_t axis = std::string_view("xyz").find(field.back());
    if (axis == std::string_view::npos || field.size() != std::string_view("velocity_x").size())
      file.refuse(what,
                  fmt::format("the column {} is unknown; expected the component x, y or z", field));
    auto& vectors = field.starts_with("position_") ? all.position : all.velocity;
    const auto values = file.reals(what, count);
    vectors.resize(before + count);
    for (std::int64_t n = 0; n < count; ++n) vectors[before + n][axis] = values[n];
  } else if (field == "mass") {
    add(all.mass, file.reals(what, count));
  } else if (field == "identity") {
    add(all.identity, file.integers(what, count));
  } else if (field == "family") {
    add(all.family, file.bytes(what, count));
  } else if (field == "levelp") {
    add(all.level, file.integers(what, count));
  } else if (field == "tag" || field == "partp") {
    file.skip(what);
  } else {
    add(all.columns[field], file.reals(what, count));
  }
}

std::int64_t records_left(const FortranFile& file) {
  FortranFile rest(file.path(), file.position());
  while (!rest.at_end()) rest.skip("a column");
  return rest.position().records - file.position().records;
}

// Reads the columns of a file in the older format, which records neither the family of particles
// nor whether there are metallicities: both follow from the number of records. cuRAMSES writes a
// byte with the type after the level.
void read_old_columns(FortranFile& file, const RamsesFacts& attributes, std::int64_t count,
                      RamsesParticles& all) {
  if (count == 0) return;
  const std::size_t before = all.size();
  std::vector<std::int8_t> types;
  std::vector<std::string> fields = attributes.particle_fields;
  for (std::size_t n = 0; n < fields.size(); ++n) {
    read_column(file, fields[n], before, count, all);
    if (fields[n] != "levelp") continue;
    if (!file.at_end() && file.bytes_of_next("ptypep") == count)
      types = file.bytes("ptypep", count);
    const std::int64_t expected = std::ssize(fields) - static_cast<std::int64_t>(n) - 1,
                       found = records_left(file);
    if (found == expected - 1) std::erase(fields, "metallicity");
    else if (found != expected)
      file.refuse("levelp or ptypep",
                  fmt::format("{} columns follow, but header_{}.txt lists {} ({})", found,
                              attributes.number, expected, fmt::join(fields, ", ")));
  }
  if (std::ssize(all.identity) != static_cast<std::int64_t>(before) + count)
    file.refuse("the last column", "the columns lack the identity of particles");
  const auto birth = all.columns.find("birth_time");
  const auto added = [&](const auto& column) {
    return std::span(column).last(static_cast<std::size_t>(count));
  };
  const auto families = ramses_families(
      file.path(), added(all.identity), types,
      birth == all.columns.end() ? std::span<const double>() : added(birth->second));
  all.family.insert(all.family.end(), families.begin(), families.end());
}

}  // namespace

std::array<std::int64_t, 2> read_domain_particles(const RamsesFacts& attributes, int domain,
                                                  RamsesParticles& all) {
  FortranFile file(ramses_file(attributes, "part", domain));
  if (const std::int64_t domains = file.integer("ncpu"); domains != attributes.domains)
    file.refuse("ncpu", fmt::format("the value is {}, but info_{}.txt has {}", domains,
                                    attributes.number, attributes.domains));
  if (file.integer("ndim") != 3) file.refuse("ndim", "expected 3 dimensions");
  const std::int64_t count = file.integer("npart");
  if (count < 0) file.refuse("npart", fmt::format("the number of particles is {}", count));
  file.skip("localseed");
  const std::int64_t stars = file.integer("nstar_tot");
  file.skip("mstar_tot, mstar_lost", 2);
  const std::int64_t sinks = file.integer("nsink");
  const std::size_t before = all.size();
  if (attributes.has_totals) {
    read_old_columns(file, attributes, count, all);
    if (count == 0) return {stars, sinks};
  } else {
    for (const std::string& field : attributes.particle_fields)
      read_column(file, field, before, count, all);
  }
  file.require_end();
  const auto whole = [&](const auto& column) { return column.size() == before + count; };
  for (const auto& [name, column] : all.columns)
    if (!whole(column))
      throw InputError("'{}': the column {} is missing in the files of some domains", file.path(),
                       name);
  if (!all.level.empty() && !whole(all.level))
    throw InputError("'{}': the column levelp is missing in the files of some domains",
                     file.path());
  if (!whole(all.position) || !whole(all.velocity) || !whole(all.mass) || !whole(all.identity) ||
      !whole(all.family))
    throw InputError("'{}' lacks the position, velocity, mass, identity or family of particles",
                     attributes.has_totals
                         ? ramses_text_path(attributes, "header", ".txt")
                         : ramses_text_path(attributes, "part_file_descriptor.txt"));
  return {stars, sinks};
}

namespace {

// --- sinks ---------------------------------------------------------------------------------------

using Words = std::vector<std::string>;

Words words_of(std::string line) {
  std::erase_if(line, [](char c) { return c == '#' || c == '\r'; });
  Words words;
  std::istringstream parts(line);
  for (std::string word; std::getline(parts, word, ',');) words.push_back(trimmed_text(word));
  return words;
}

// Table of sink_NNNNN.csv. Its first line names the columns, except in files of cuRAMSES.
struct SinkTable {
  bool is_named = true;
  Words names;
  std::vector<std::pair<int, Words>> lines;  // words of the lines, with line numbers from 1

  bool has(const char* name) const { return std::ranges::find(names, name) != names.end(); }
};

SinkTable sink_table(const std::string& path, const std::string& text) {
  static const Words columns_of_curamses{"id", "msink", "x",  "y",   "z",
                                         "vx", "vy",    "vz", "age", "accretion_rate"};
  SinkTable table;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    Words words = words_of(line);
    if (number == 1) {
      table.is_named = words.empty() || words[0].find_first_not_of("0123456789") == 0;
      if (!table.is_named && words.size() != columns_of_curamses.size())
        throw InputError(
            "'{}' has {} columns, and its first line does not name them; expected a line of names, "
            "or the {} columns of cuRAMSES ({})",
            path, words.size(), columns_of_curamses.size(), fmt::join(columns_of_curamses, ", "));
      table.names = table.is_named ? words : columns_of_curamses;
      if (table.is_named) continue;
    }
    if (trimmed_text(line).empty() || trimmed_text(line).front() == '#') continue;
    table.lines.emplace_back(number, std::move(words));
  }
  return table;
}

RamsesParticles sinks_in(const std::string& path, const SinkTable& table, double time) {
  RamsesParticles sinks;
  for (const auto& [number, words] : table.lines) {
    const auto value = [&, number = number, &words = words](const char* name) {
      const auto column = std::ranges::find(table.names, name) - table.names.begin();
      const bool there = column < std::min(std::ssize(table.names), std::ssize(words));
      const char* begin = there ? words[column].c_str() : "";
      char* end = nullptr;
      const double found = std::strtod(begin, &end);
      if (end == begin || *end != '\0' || !std::isfinite(found))
        throw InputError("'{}': line {} has no number in the column \"{}\"", path, number, name);
      return found;
    };
    const double id = value("id");
    constexpr double k_most = 9007199254740992.0;  // integers up to 2^53 are exact
    if (id != std::floor(id) || std::abs(id) > k_most)
      throw InputError("'{}': line {}: the id {} is not a valid integer", path, number, id);
    sinks.identity.push_back(static_cast<std::int64_t>(id));
    sinks.mass.push_back(value("msink"));
    sinks.position.push_back({value("x"), value("y"), value("z")});
    sinks.velocity.push_back({value("vx"), value("vy"), value("vz")});
    if (table.has("tform")) sinks.columns["birth_time"].push_back(value("tform"));
    if (!table.is_named) sinks.columns["birth_time"].push_back(time - value("age"));
  }
  Words unread;
  const std::set<std::string> read{"id", "msink", "x",  "y",     "z",
                                   "vx", "vy",    "vz", "tform", table.is_named ? "" : "age"};
  for (const std::string& name : table.names)
    if (!name.empty() && !read.contains(name)) unread.push_back(name);
  if (!unread.empty()) log::info("{}: ignored columns: {}", path, fmt::join(unread, ", "));
  return sinks;
}

// Reads sinks from sink_NNNNN.out, which cuRAMSES writes with all digits in addition to the table.
RamsesParticles sinks_of_records(const std::string& path, const RamsesParticles& of_table) {
  FortranFile file(path);
  const std::int64_t count = file.integer("nsink");
  file.skip("nindsink");
  RamsesParticles sinks;
  sinks.identity = file.integers("idsink", count);
  if (sinks.identity != of_table.identity)
    file.refuse("idsink",
                "the sinks are not those of the file .csv of the same name: files of "
                "different outputs are mixed");
  sinks.mass = file.reals("msink", count);
  const auto read_vectors = [&](const char* what, auto& vectors) {
    vectors.resize(static_cast<std::size_t>(count));
    for (int axis = 0; axis < 3; ++axis) {
      const auto values = file.reals(what, count);
      for (std::int64_t n = 0; n < count; ++n) vectors[n][axis] = values[n];
    }
  };
  read_vectors("xsink", sinks.position);
  read_vectors("vsink", sinks.velocity);
  sinks.columns["birth_time"] = file.reals("tsink", count);
  log::info("{}: ignored accretion, spin and efficiency of sinks", path);
  return sinks;
}

}  // namespace

RamsesParticles read_sinks_of_text(const Communicator& communicator,
                                   const RamsesFacts& attributes) {
  RamsesParticles sinks;
  const std::string path = ramses_text_path(attributes, "sink", ".csv"),
                    records = ramses_text_path(attributes, "sink", ".out");
  const auto text = read_on_root(communicator, path);
  communicator.collective_try([&] {
    if (!text || !communicator.is_root()) return;
    const SinkTable table = sink_table(path, *text);
    sinks = sinks_in(path, table, attributes.time);
    if (!table.is_named && std::filesystem::exists(records))
      sinks = sinks_of_records(records, sinks);
    sinks.family.assign(sinks.size(), k_ramses_cloud);
  });
  return sinks;
}

}  // namespace octant
