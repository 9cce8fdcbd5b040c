// Output folders of RAMSES (Teyssier 2002): output_NNNNN with text about the run and, of every
// domain (a rank of the run that wrote it), one binary file of its octs, one of their gas, and one
// of its particles. They lie in the folder itself, or in group_00001, group_00002, ..., of which
// the first has the texts (IOGROUPSIZEREP).
//
// Files hold the octs level by level, of each level first those of domain 1, then of 2, ...: beside
// its own a domain keeps copies of its neighbours'; behind them come those beyond the walls.
// Variables are primitive: density, velocity, pressure, concentrations.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <span>
#include <sstream>

#include "core/error.hpp"
#include "io/fortran_file.hpp"
#include "io/ramses_kinds.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

constexpr int k_cells = 8;  // of an oct

// A text on every rank, read by one; nothing if there is no such file.
std::optional<std::string> shared_text(const Communicator& communicator, const std::string& path) {
  std::string text;
  bool found = false;
  if (communicator.is_root()) {
    std::ifstream file(path);
    std::ostringstream content;
    found = static_cast<bool>(file);
    content << file.rdbuf();
    text = content.str();
  }
  if (!communicator.any(found)) return std::nullopt;
  communicator.broadcast(text);
  return text;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

// The numbers of info_NNNNN.txt, one "key = value" a line.
class Info {
 public:
  Info(std::string path, const std::string& text) : path_(std::move(path)) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto equals = line.find('=');
      if (equals == std::string::npos) continue;
      values_[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    }
  }

  double number(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end())
      throw InputError("'{}' has no line \"{} = ...\": it is not what RAMSES writes", path_, key);
    char* end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (end == found->second.c_str() || *end != '\0' || !std::isfinite(value))
      throw InputError("'{}': {} = {} is no number", path_, key, found->second);
    return value;
  }
  std::int64_t count(const std::string& key) const {
    const double value = number(key);
    if (value != std::floor(value) || value < 0.0 || value > 1e15)
      throw InputError("'{}': {} = {} is no number of things", path_, key, value);
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string path_;
  std::map<std::string, std::string> values_;
};

// The second words of the lines "1, density, d" of a descriptor.
std::vector<std::string> names_in(const std::string& descriptor) {
  static const std::regex line_of_field(R"(\s*\d+\s*,\s*(\w+)\s*,\s*\w\s*)");
  std::vector<std::string> names;
  std::istringstream lines(descriptor);
  std::smatch match;
  for (std::string line; std::getline(lines, line);)
    if (std::regex_match(line, match, line_of_field)) names.push_back(match[1]);
  return names;
}

// Families of header_NNNNN.txt, "DM 2000" a line; there are several lines of one name for tracers.
std::map<std::string, std::int64_t> families_in(const std::string& header) {
  static const std::regex line_of_family(R"(\s*(\w+)\s+(\d+)\s*)");
  std::map<std::string, std::int64_t> families;
  std::istringstream lines(header);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("Particle fields") != std::string::npos) break;
    if (!std::regex_match(line, match, line_of_family)) continue;
    if (const std::int64_t count = std::stoll(match[2]); count > 0) families[match[1]] += count;
  }
  return families;
}

std::string group_folder(const RamsesFacts& facts, int group) {
  return fmt::format("{}/group_{:05d}", facts.folder, group);
}

// Where the texts are.
std::string text_folder(const RamsesFacts& facts) {
  return facts.domains_of_group > 0 ? group_folder(facts, 1) : facts.folder;
}

std::string text_of(const RamsesFacts& facts, const char* kind, const char* ending) {
  return fmt::format("{}/{}_{}{}", text_folder(facts), kind, facts.number, ending);
}

std::string file_of(const RamsesFacts& facts, const char* kind, int domain) {
  const int size = facts.domains_of_group;
  return fmt::format("{}/{}_{}.out{:05d}",
                     size > 0 ? group_folder(facts, (domain - 1) / size + 1) : facts.folder, kind,
                     facts.number, domain);
}

// Whether files lie in groups: the first one, if there are several, is full.
void find_groups(const Communicator& communicator, RamsesFacts& facts) {
  std::int64_t files = 0;
  if (communicator.is_root() && fs::is_directory(group_folder(facts, 1)))
    for (const auto& entry : fs::directory_iterator(group_folder(facts, 1)))
      files += entry.path().filename().string().starts_with("amr_");
  facts.domains_of_group = static_cast<int>(communicator.max(files));
}

// The octs that one domain owns, level by level, coarsest first. Local.
class RamsesDomain {
 public:
  RamsesDomain(const RamsesFacts& facts, RamsesCells cells, int number);  // from 1

  const RamsesHead& head() const { return head_; }
  void next_level();
  std::int64_t count() const { return octs_in_list(number_ - 1); }  // of the present level
  // Some of them, to where `octs` have room from `at` on.
  void read(RowRange some, RamsesOcts& octs, std::int64_t at) const;

 private:
  void read_amr_head(const RamsesFacts& facts);
  std::int64_t read_sizes(FortranFile& amr);
  void read_times(FortranFile& amr, const RamsesFacts& facts);
  void read_lists(FortranFile& amr, std::int64_t boundaries);
  void read_gas_head(const RamsesFacts& facts);
  void read_force_head();
  void expect(FortranFile& values, const char* what, std::int64_t expected) const;
  void next_level_of_values();
  std::int64_t octs_in_list(int list) const;
  void read_tree(RowRange some, RamsesOcts& octs, std::int64_t at) const;
  void read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const;

  RamsesCells cells_;
  std::string amr_path_, values_path_;  // the latter empty without gas
  RamsesHead head_;
  int passed_ = 0;                                // variables of a cell before those wanted
  int number_, domains_, lists_ = 0, level_ = 0;  // the present level
  std::vector<std::int64_t> in_lists_;            // octs, [level - 1][list]
  RecordPlace amr_place_, values_place_;          // where the next level begins
  RecordPlace own_octs_, own_values_;             // of the present level
  RecordPlace end_of_octs_, end_of_values_;
};

}  // namespace

void read_folder_facts(const Communicator& communicator, RamsesFacts& facts) {
  find_groups(communicator, facts);
  const std::string info_path = text_of(facts, "info", ".txt");
  const auto info_text = shared_text(communicator, info_path);
  if (!info_text)
    throw InputError("'{}' is missing: the folder is no whole output of RAMSES", info_path);
  const Info info(info_path, *info_text);
  facts.domains = static_cast<int>(info.count("ncpu"));
  if (info.count("ndim") != 3)
    throw InputError("'{}': the run has {} dimensions; 3 are needed", info_path,
                     info.count("ndim"));
  facts.coarsest_level = static_cast<int>(info.count("levelmin"));
  facts.coarse_steps = info.count("nstep_coarse");
  for (const auto& [name, number] : k_ramses_numbers) facts.*number = info.number(name);
  if (facts.domains < 1 || !(facts.box_length > 0.0))
    throw InputError("'{}': {} domains in a box of length {} make no sense", info_path,
                     facts.domains, facts.box_length);
  if (const auto text =
          shared_text(communicator, text_folder(facts) + "/hydro_file_descriptor.txt"))
    facts.variables = names_in(*text);
  const auto header = shared_text(communicator, text_of(facts, "header", ".txt"));
  if (header) facts.families = families_in(*header);
  const std::string gas = file_of(facts, "hydro", 1);
  facts.has_gas =
      !facts.variables.empty() || communicator.any(communicator.is_root() && fs::exists(gas));
  facts.has_forces =
      communicator.any(communicator.is_root() && fs::exists(file_of(facts, "grav", 1)));
  facts.has_sinks = shared_text(communicator, text_of(facts, "sink", ".csv")).has_value();
  if (facts.families.empty()) return;
  const std::string fields = text_folder(facts) + "/part_file_descriptor.txt";
  const auto text = shared_text(communicator, fields);
  if (!text)
    throw InputError("'{}' is missing: without it nobody knows what the particles' files hold",
                     fields);
  facts.particle_fields = names_in(*text);
}

namespace {

RamsesDomain::RamsesDomain(const RamsesFacts& facts, RamsesCells cells, int number)
    : cells_(cells),
      amr_path_(file_of(facts, "amr", number)),
      number_(number),
      domains_(facts.domains) {
  if (cells == RamsesCells::forces) values_path_ = file_of(facts, "grav", number);
  else if (facts.has_gas) values_path_ = file_of(facts, "hydro", number);
  read_amr_head(facts);
  if (cells == RamsesCells::forces) read_force_head();
  else if (facts.has_gas) read_gas_head(facts);
}

void RamsesDomain::read_amr_head(const RamsesFacts& facts) {
  FortranFile amr(amr_path_);
  const std::int64_t boundaries = read_sizes(amr);
  read_times(amr, facts);
  read_lists(amr, boundaries);
  const std::string ordering = amr.text("ordering");
  const bool ksection = ordering == "ksection";  // of cuRAMSES
  amr.skip("bounds of domains", ordering == "bisection" ? 5 : ksection ? 10 : 1);
  amr.skip("son, flag1, cpu_map", 3);
  amr_place_ = amr.place();
}

// Returns how many regions of boundaries there are.
std::int64_t RamsesDomain::read_sizes(FortranFile& amr) {
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected)
      amr.refuse(what, fmt::format("{} where {} is expected: files of several runs are mixed",
                                   found, expected));
  };
  expect("ncpu", amr.integer("ncpu"), domains_);
  expect("ndim", amr.integer("ndim"), 3);
  const auto coarse = amr.integers("nx, ny, nz", 3);
  std::copy(coarse.begin(), coarse.end(), head_.coarse_cells.begin());
  const auto [least, most] = std::ranges::minmax(coarse);
  if (least < 1 || most > 3)
    amr.refuse(
        "nx, ny, nz",
        fmt::format("a coarse grid of {} x {} x {}; one cell, and one more for each wall, can "
                    "be read",
                    coarse[0], coarse[1], coarse[2]));
  head_.levels = static_cast<int>(amr.integer("nlevelmax"));
  if (head_.levels < 1 || head_.levels > 60)
    amr.refuse("nlevelmax", fmt::format("{} levels", head_.levels));
  amr.skip("ngridmax");
  const std::int64_t boundaries = amr.integer("nboundary");
  if (boundaries < 0 || boundaries > 100)
    amr.refuse("nboundary", fmt::format("{} regions of boundaries", boundaries));
  lists_ = domains_ + static_cast<int>(boundaries);
  amr.skip("ngrid_current");
  amr.skip("boxlen");
  return boundaries;
}

void RamsesDomain::read_times(FortranFile& amr, const RamsesFacts& facts) {
  amr.skip("noutput, iout, ifout");
  amr.skip("tout, aout", 2);
  constexpr double k_rounding = 1e-6;  // of single precision
  if (const double time = amr.real("t");
      !(std::abs(time - facts.time) <= k_rounding * std::abs(facts.time)))
    amr.refuse("t", fmt::format("a domain at time {}, where info_{}.txt has {}: files of several "
                                "outputs are mixed",
                                time, facts.number, facts.time));
  amr.skip("dtold");
  head_.last_steps = amr.reals("dtnew", head_.levels);
  for (const double step : head_.last_steps)
    if (!(step >= 0.0) || !std::isfinite(step))
      amr.refuse("dtnew", fmt::format("a step of length {}", step));
  amr.skip("nstep to mass_sph", 5);
}

void RamsesDomain::read_lists(FortranFile& amr, std::int64_t boundaries) {
  amr.skip("headl, taill", 2);
  const auto own = amr.integers("numbl", std::int64_t{domains_} * head_.levels);
  amr.skip("numbtot");
  std::vector<std::int64_t> beyond;
  if (boundaries > 0) {
    amr.skip("headb, tailb", 2);
    beyond = amr.integers("numbb", boundaries * head_.levels);
  }
  amr.skip("headf, tailf, numbf, used_mem, used_mem_tot");
  for (int level = 1; level <= head_.levels; ++level) {
    for (int n = 0; n < domains_; ++n) in_lists_.push_back(own[(level - 1) * domains_ + n]);
    for (int n = 0; n < boundaries; ++n) in_lists_.push_back(beyond[(level - 1) * boundaries + n]);
  }
  if (std::ranges::min(in_lists_) < 0) amr.refuse("numbl, numbb", "a negative number of octs");
}

// The next number of a file of cells' values must be that of the tree's.
void RamsesDomain::expect(FortranFile& values, const char* what, std::int64_t expected) const {
  if (const std::int64_t found = values.integer(what); found != expected)
    values.refuse(what, fmt::format("{} where '{}' has {}", found, amr_path_, expected));
}

void RamsesDomain::read_gas_head(const RamsesFacts& facts) {
  FortranFile gas(values_path_);
  expect(gas, "ncpu", domains_);
  head_.variables = static_cast<int>(gas.integer("nvar"));
  const auto named = static_cast<int>(facts.variables.size());
  if (named > 0 && head_.variables != named)
    gas.refuse("nvar", fmt::format("{} variables where hydro_file_descriptor.txt names {}",
                                   head_.variables, named));
  expect(gas, "ndim", 3);
  expect(gas, "nlevelmax", head_.levels);
  expect(gas, "nboundary", lists_ - domains_);
  head_.gamma = gas.real("gamma");
  values_place_ = gas.place();
}

void RamsesDomain::read_force_head() {
  FortranFile forces(values_path_);
  expect(forces, "ncpu", domains_);
  // Before the force come the potential and, with -DOUTPUT_PARTICLE_DENSITY, a density.
  const std::int64_t found = forces.integer("ndim + 1");
  if (found != 4 && found != 5)
    forces.refuse("ndim + 1",
                  fmt::format("{} variables of a cell; a potential and a force are 4", found));
  passed_ = static_cast<int>(found) - k_ramses_force_fields;
  head_.variables = k_ramses_force_fields;
  expect(forces, "nlevelmax", head_.levels);
  expect(forces, "nboundary", lists_ - domains_);
  values_place_ = forces.place();
}

// Octs of the present level in the list of a domain or boundary, from 0.
std::int64_t RamsesDomain::octs_in_list(int list) const {
  return in_lists_[static_cast<std::size_t>(level_ - 1) * lists_ + list];
}

std::int64_t oct_place(const FortranFile& file, int level, double centre) {
  const std::int64_t place = ramses_oct_place(level, centre);
  if (place < 0)
    file.refuse("octs' centres",
                fmt::format("{} is no centre of an oct of level {}", centre, level));
  return place;
}

void RamsesDomain::next_level() {
  constexpr int k_amr_records = 3 + 3 + 1 + 6 + 3 * k_cells;  // of a list with octs
  ++level_;
  FortranFile amr(amr_path_, amr_place_);
  for (int list = 0; list < lists_; ++list) {
    if (list == number_ - 1) own_octs_ = amr.place();
    if (octs_in_list(list) > 0) amr.skip("octs", k_amr_records);
    if (list == number_ - 1) end_of_octs_ = amr.place();
  }
  amr_place_ = amr.place();
  if (level_ == head_.levels && !amr.at_end())
    amr.refuse("the last one", "the file goes on behind it");
  if (!values_path_.empty()) next_level_of_values();
}

void RamsesDomain::next_level_of_values() {
  FortranFile values(values_path_, values_place_);
  for (int list = 0; list < lists_; ++list) {
    const std::int64_t count = octs_in_list(list);
    if (const std::int64_t level = values.integer("ilevel"); level != level_)
      values.refuse("ilevel", fmt::format("{} where {} is expected", level, level_));
    if (const std::int64_t other = values.integer("ncache"); other != count)
      values.refuse("ncache", fmt::format("{} octs of level {} in list {}, but '{}' has {}", other,
                                          level_, list + 1, amr_path_, count));
    if (list == number_ - 1) own_values_ = values.place();
    if (count > 0) values.skip("variables", k_cells * (passed_ + head_.variables));
    if (list == number_ - 1) end_of_values_ = values.place();
  }
  values_place_ = values.place();
  if (level_ == head_.levels && !values.at_end())
    values.refuse("the last one", "the file goes on behind it");
}

void RamsesDomain::read(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  read_tree(some, octs, at);
  if (!values_path_.empty()) read_values(some, octs, at);
}

void RamsesDomain::read_tree(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  FortranFile amr(amr_path_, own_octs_);
  if (some.begin == 0) amr.fetch_ahead(end_of_octs_);
  amr.skip("octs' indices, next and prev", 3);
  std::vector<double> centres(static_cast<std::size_t>(some.count));
  for (int axis = 0; axis < 3; ++axis) {
    amr.reals("octs' centres", count(), some.begin, centres);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.places[at + n][axis] = oct_place(amr, level_, centres[n]);
  }
  amr.skip("father and neighbours", 7);
  std::vector<std::int64_t> sons(static_cast<std::size_t>(some.count));
  for (int cell = 0; cell < k_cells; ++cell) {
    amr.integers("son", count(), some.begin, sons);
    for (std::int64_t n = 0; n < some.count; ++n)
      octs.refined[at + n] |= static_cast<std::uint8_t>((sons[n] > 0) << cell);
  }
}

void RamsesDomain::read_values(RowRange some, RamsesOcts& octs, std::int64_t at) const {
  FortranFile file(values_path_, own_values_);
  if (some.begin == 0) file.fetch_ahead(end_of_values_);
  const bool begins_with_density = cells_ == RamsesCells::gas;
  for (int cell = 0; cell < k_cells; ++cell) {
    file.skip("potential", passed_);
    for (int n = 0; n < head_.variables; ++n) {
      const std::int64_t column = (std::int64_t{n} * k_cells + cell) * octs.size() + at;
      const auto values =
          std::span(octs.values)
              .subspan(static_cast<std::size_t>(column), static_cast<std::size_t>(some.count));
      file.reals("a variable", count(), some.begin, values);
      const bool is_density = begins_with_density && n == 0;
      for (const double value : values)
        if (!std::isfinite(value) || (is_density && !(value > 0.0)))
          file.refuse("a variable",
                      fmt::format("a {} of {}", is_density ? "density" : "value", value));
    }
  }
}

// --- particles and sinks -------------------------------------------------------------------------

// Reads a column of a domain's `count` particles behind the `before` that are there.
void read_column(FortranFile& file, const std::string& field, std::size_t before,
                 std::int64_t count, RamsesParticles& all) {
  const char* what = field.c_str();
  const auto add = [](auto& column, const auto& values) {
    column.insert(column.end(), values.begin(), values.end());
  };
  if (field.starts_with("position_") || field.starts_with("velocity_")) {
    const auto axis = static_cast<std::size_t>(field.back() - 'x');
    auto& vectors = field.starts_with("position_") ? all.position : all.velocity;
    const auto values = file.reals(what, count);
    vectors.resize(before + count);
    for (std::int64_t n = 0; n < count; ++n) vectors[before + n].at(axis) = values[n];
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

// Adds those of a domain.
void read_particles(const RamsesFacts& facts, int number, RamsesParticles& all) {
  FortranFile file(file_of(facts, "part", number));
  if (const std::int64_t domains = file.integer("ncpu"); domains != facts.domains)
    file.refuse("ncpu",
                fmt::format("{} where info_{}.txt has {}", domains, facts.number, facts.domains));
  if (file.integer("ndim") != 3) file.refuse("ndim", "3 are needed");
  const std::int64_t count = file.integer("npart");
  if (count < 0) file.refuse("npart", fmt::format("{} particles", count));
  file.skip("localseed, nstar_tot, mstar_tot, mstar_lost, nsink", 5);
  const std::size_t before = all.size();
  for (const std::string& field : facts.particle_fields)
    read_column(file, field, before, count, all);
  if (!file.at_end()) file.refuse("the last one", "the file goes on behind it");
  const auto whole = [&](const auto& column) { return column.size() == before + count; };
  if (!whole(all.position) || !whole(all.velocity) || !whole(all.mass) || !whole(all.identity) ||
      !whole(all.family))
    throw InputError(
        "'{}/part_file_descriptor.txt' lacks a position, velocity, mass, identity or family of "
        "particles",
        text_folder(facts));
}

// The sinks of sink_NNNNN.csv, whose first line names the columns.
RamsesParticles sinks_in(const std::string& path, const std::string& text) {
  const auto words_of = [](std::string line) {
    std::erase_if(line, [](char c) { return c == '#' || c == '\r'; });
    std::vector<std::string> words;
    std::istringstream parts(line);
    for (std::string word; std::getline(parts, word, ',');) words.push_back(trimmed(word));
    return words;
  };
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = words_of(line);
  RamsesParticles sinks;
  for (int number = 2; std::getline(lines, line); ++number) {
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    const std::vector<std::string> words = words_of(line);
    const auto value = [&](const char* name) {
      const auto column = std::find(names.begin(), names.end(), name) - names.begin();
      const bool there = column < std::min(std::ssize(names), std::ssize(words));
      const char* begin = there ? words[column].c_str() : "";
      char* end = nullptr;
      const double found = std::strtod(begin, &end);
      if (end == begin || *end != '\0' || !std::isfinite(found))
        throw InputError("'{}': line {} has no number in the column \"{}\"", path, number, name);
      return found;
    };
    sinks.identity.push_back(static_cast<std::int64_t>(value("id")));
    sinks.family.push_back(k_ramses_cloud);
    sinks.mass.push_back(value("msink"));
    sinks.position.push_back({value("x"), value("y"), value("z")});
    sinks.velocity.push_back({value("vx"), value("vy"), value("vz")});
    if (std::find(names.begin(), names.end(), "tform") != names.end())
      sinks.columns["birth_time"].push_back(value("tform"));
  }
  return sinks;
}

// A folder with files of every domain.
class RamsesFolder final : public RamsesSource {
 public:
  RamsesFolder(const Communicator& communicator, const RamsesFacts& facts, int chunk,
               RamsesCells cells)
      : RamsesSource(communicator, facts, chunk) {
    communicator.agree([&] {
      for (int round = 0; round < rounds(); ++round)
        for (const int domain : domains(round)) {
          const auto [file, is_new] = files_.try_emplace(domain, facts, cells, domain);
          variables_ = file->second.head().variables;
        }
    });
  }

  std::vector<RamsesHead> heads() const override {
    std::vector<RamsesHead> heads;
    for (const auto& [domain, file] : files_) heads.push_back(file.head());
    return heads;
  }
  bool is_conserved() const override { return false; }

  void next_level() override {
    communicator_.agree([&] {
      for (auto& [domain, file] : files_) file.next_level();
    });
  }

  void read(int round, RowRange some, RamsesOcts& octs) override {
    octs.resize(some.count, k_cells * variables_);
    communicator_.agree([&] {
      for (const auto& [domain, part, at] : pieces(round, some))
        files_.at(domain).read(part, octs, at);
    });
  }

  RamsesParticles particles(int round) override {
    RamsesParticles particles;
    communicator_.agree([&] {
      for (const int domain : domains(round)) read_particles(facts_, domain, particles);
    });
    return particles;
  }

  RamsesParticles sinks() override {
    RamsesParticles sinks;
    const std::string path = text_of(facts_, "sink", ".csv");
    const auto text = shared_text(communicator_, path);
    communicator_.agree([&] {
      if (text && communicator_.is_root()) sinks = sinks_in(path, *text);
    });
    return sinks;
  }

 private:
  std::int64_t octs_of(int domain) const override { return files_.at(domain).count(); }

  std::map<int, RamsesDomain> files_;
  int variables_ = 0;
};

}  // namespace

std::unique_ptr<RamsesSource> open_folder(const Communicator& communicator,
                                          const RamsesFacts& facts, int chunk, RamsesCells cells) {
  return std::make_unique<RamsesFolder>(communicator, facts, chunk, cells);
}

}  // namespace octant
