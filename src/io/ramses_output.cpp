#include "io/ramses_output.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include "core/error.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

constexpr int k_cells = 8;  // of an oct

// "00080" of ".../output_00080", or "".
std::string number_of(const std::string& path) {
  static const std::regex pattern("output_([0-9]{5,})");
  fs::path name = fs::path(path).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::smatch match;
  const std::string last = name.filename().string();
  return std::regex_match(last, match, pattern) ? match[1].str() : "";
}

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

std::string file_of(const RamsesFacts& facts, const char* kind, int domain) {
  return fmt::format("{}/{}_{}.out{:05d}", facts.folder, kind, facts.number, domain);
}

}  // namespace

bool is_ramses_output(const Communicator& communicator, const std::string& path) {
  const std::string number = number_of(path);
  bool found = false;
  if (!number.empty() && communicator.is_root()) {
    std::error_code ignored;
    found = fs::is_directory(path, ignored);
  }
  return communicator.any(found);
}

RamsesFacts read_ramses_facts(const Communicator& communicator, const std::string& path) {
  RamsesFacts facts;
  facts.folder = fs::path(path).lexically_normal().string();
  facts.number = number_of(path);
  const std::string info_path = fmt::format("{}/info_{}.txt", facts.folder, facts.number);
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
  facts.box_length = info.number("boxlen");
  facts.time = info.number("time");
  facts.scale_factor = info.number("aexp");
  facts.hubble = info.number("H0");
  facts.unit_length = info.number("unit_l");
  facts.unit_density = info.number("unit_d");
  facts.unit_time = info.number("unit_t");
  if (facts.domains < 1 || !(facts.box_length > 0.0))
    throw InputError("'{}': {} domains in a box of length {} make no sense", info_path,
                     facts.domains, facts.box_length);
  if (const auto text = shared_text(communicator, facts.folder + "/hydro_file_descriptor.txt"))
    facts.variables = names_in(*text);
  const auto header =
      shared_text(communicator, fmt::format("{}/header_{}.txt", facts.folder, facts.number));
  if (header) facts.families = families_in(*header);
  if (facts.families.empty()) return facts;
  const std::string fields = facts.folder + "/part_file_descriptor.txt";
  const auto text = shared_text(communicator, fields);
  if (!text)
    throw InputError("'{}' is missing: without it nobody knows what the particles' files hold",
                     fields);
  facts.particle_fields = names_in(*text);
  return facts;
}

RamsesDomain::RamsesDomain(const RamsesFacts& facts, int number)
    : amr_path_(file_of(facts, "amr", number)),
      gas_path_(file_of(facts, "hydro", number)),
      number_(number),
      domains_(facts.domains) {
  read_amr_head();
  read_gas_head(facts);
}

void RamsesDomain::read_amr_head() {
  FortranFile amr(amr_path_);
  const auto expect = [&](const char* what, std::int64_t found, std::int64_t expected) {
    if (found != expected)
      amr.refuse(what, fmt::format("{} where {} is expected: files of several runs are mixed",
                                   found, expected));
  };
  expect("ncpu", amr.integer("ncpu"), domains_);
  expect("ndim", amr.integer("ndim"), 3);
  const auto coarse = amr.integers("nx, ny, nz", 3);
  std::copy(coarse.begin(), coarse.end(), coarse_cells_.begin());
  if (*std::min_element(coarse.begin(), coarse.end()) < 1 ||
      *std::max_element(coarse.begin(), coarse.end()) > 3)
    amr.refuse(
        "nx, ny, nz",
        fmt::format("a coarse grid of {} x {} x {}; one cell, and one more for each wall, can "
                    "be read",
                    coarse[0], coarse[1], coarse[2]));
  levels_ = static_cast<int>(amr.integer("nlevelmax"));
  if (levels_ < 1 || levels_ > 60) amr.refuse("nlevelmax", fmt::format("{} levels", levels_));
  amr.skip("ngridmax");
  const std::int64_t boundaries = amr.integer("nboundary");
  if (boundaries < 0 || boundaries > 100)
    amr.refuse("nboundary", fmt::format("{} regions of boundaries", boundaries));
  lists_ = domains_ + static_cast<int>(boundaries);
  amr.skip("ngrid_current");
  amr.skip("boxlen");
  amr.skip("noutput, iout, ifout");
  amr.skip("tout, aout", 2);
  time_ = amr.real("t");
  amr.skip("dtold to mass_sph", 7);
  amr.skip("headl, taill", 2);
  const auto own = amr.integers("numbl", std::int64_t{domains_} * levels_);
  amr.skip("numbtot");
  std::vector<std::int64_t> beyond;
  if (boundaries > 0) {
    amr.skip("headb, tailb", 2);
    beyond = amr.integers("numbb", boundaries * levels_);
  }
  amr.skip("headf, tailf, numbf, used_mem, used_mem_tot");
  const std::string ordering = amr.text("ordering");
  amr.skip("bounds of domains", ordering == "bisection" ? 5 : 1);
  amr.skip("son, flag1, cpu_map", 3);
  amr_place_ = amr.place();
  for (int level = 1; level <= levels_; ++level) {
    for (int n = 0; n < domains_; ++n) in_lists_.push_back(own[(level - 1) * domains_ + n]);
    for (int n = 0; n < boundaries; ++n) in_lists_.push_back(beyond[(level - 1) * boundaries + n]);
  }
  if (*std::min_element(in_lists_.begin(), in_lists_.end()) < 0)
    amr.refuse("numbl, numbb", "a negative number of octs");
}

void RamsesDomain::read_gas_head(const RamsesFacts& facts) {
  FortranFile gas(gas_path_);
  const auto expect = [&](const char* what, std::int64_t expected) {
    if (const std::int64_t found = gas.integer(what); found != expected)
      gas.refuse(what, fmt::format("{} where '{}' has {}", found, amr_path_, expected));
  };
  expect("ncpu", domains_);
  variables_ = static_cast<int>(gas.integer("nvar"));
  const auto named = static_cast<int>(facts.variables.size());
  if (named > 0 && variables_ != named)
    gas.refuse("nvar", fmt::format("{} variables where hydro_file_descriptor.txt names {}",
                                   variables_, named));
  expect("ndim", 3);
  expect("nlevelmax", levels_);
  expect("nboundary", lists_ - domains_);
  gamma_ = gas.real("gamma");
  gas_place_ = gas.place();
}

// Octs of the present level in the list of a domain or boundary, from 0.
std::int64_t RamsesDomain::octs_in_list(int list) const {
  return in_lists_[static_cast<std::size_t>(level_ - 1) * lists_ + list];
}

RamsesOcts RamsesDomain::next_level() {
  RamsesOcts octs;
  walk_level(&octs);
  return octs;
}

void RamsesDomain::skip_level() { walk_level(nullptr); }

void RamsesDomain::walk_level(RamsesOcts* octs) {
  constexpr int k_amr_records = 3 + 3 + 1 + 6 + 3 * k_cells;  // of a list with octs
  ++level_;
  FortranFile amr(amr_path_, amr_place_), gas(gas_path_, gas_place_);
  for (int list = 0; list < lists_; ++list) {
    const std::int64_t count = octs_in_list(list);
    if (const std::int64_t level = gas.integer("ilevel"); level != level_)
      gas.refuse("ilevel", fmt::format("{} where {} is expected", level, level_));
    if (const std::int64_t other = gas.integer("ncache"); other != count)
      gas.refuse("ncache", fmt::format("{} octs of level {} in list {}, but '{}' has {}", other,
                                       level_, list + 1, amr_path_, count));
    if (count == 0) continue;
    if (octs && list == number_ - 1) {
      read_tree(amr, count, *octs);
      read_values(gas, count, *octs);
    } else {
      amr.skip("octs of others", k_amr_records);
      gas.skip("variables of others", k_cells * variables_);
    }
  }
  amr_place_ = amr.place();
  gas_place_ = gas.place();
  if (level_ < levels_) return;
  if (!amr.at_end()) amr.refuse("the last one", "the file goes on behind it");
  if (!gas.at_end()) gas.refuse("the last one", "the file goes on behind it");
}

void RamsesDomain::read_tree(FortranFile& amr, std::int64_t count, RamsesOcts& octs) const {
  amr.skip("octs' indices, next and prev", 3);
  octs.places.resize(count);
  octs.refined.assign(count, 0);
  const double octs_across = std::ldexp(1.0, level_ - 1);
  for (int axis = 0; axis < 3; ++axis) {
    const auto centres = amr.reals("octs' centres", count);
    for (std::int64_t n = 0; n < count; ++n) {
      // One coarse cell is the box; walls are beside it.
      const double in_box = centres[n] - std::floor(centres[n]);
      const double place = std::floor(in_box * octs_across);
      if (!(std::abs((in_box * octs_across - place) - 0.5) < 1e-3))
        amr.refuse("octs' centres",
                   fmt::format("{} is no centre of an oct of level {}", centres[n], level_));
      octs.places[n][axis] = static_cast<std::int64_t>(place);
    }
  }
  amr.skip("father and neighbours", 7);
  for (int cell = 0; cell < k_cells; ++cell) {
    const auto sons = amr.integers("son", count);
    for (std::int64_t n = 0; n < count; ++n)
      octs.refined[n] |= static_cast<std::uint8_t>((sons[n] > 0) << cell);
  }
  amr.skip("cpu_map and flag1", 2 * k_cells);
}

void RamsesDomain::read_values(FortranFile& gas, std::int64_t count, RamsesOcts& octs) const {
  octs.values.resize(static_cast<std::size_t>(count) * k_cells * variables_);
  for (int cell = 0; cell < k_cells; ++cell)
    for (int n = 0; n < variables_; ++n) {
      const auto values = gas.reals("a variable", count);
      for (const double value : values)
        if (!std::isfinite(value) || (n == 0 && !(value > 0.0)))
          gas.refuse("a variable", fmt::format("a {} of {}", n == 0 ? "density" : "value", value));
      std::copy(values.begin(), values.end(),
                octs.values.begin() + (std::int64_t{n} * k_cells + cell) * count);
    }
}

RamsesParticles read_ramses_particles(const RamsesFacts& facts, int number) {
  FortranFile file(file_of(facts, "part", number));
  if (const std::int64_t domains = file.integer("ncpu"); domains != facts.domains)
    file.refuse("ncpu",
                fmt::format("{} where info_{}.txt has {}", domains, facts.number, facts.domains));
  if (file.integer("ndim") != 3) file.refuse("ndim", "3 are needed");
  const std::int64_t count = file.integer("npart");
  if (count < 0) file.refuse("npart", fmt::format("{} particles", count));
  file.skip("localseed, nstar_tot, mstar_tot, mstar_lost, nsink", 5);
  RamsesParticles p;
  p.position.resize(count);
  p.velocity.resize(count);
  for (const std::string& field : facts.particle_fields) {
    const char* what = field.c_str();
    const auto axis = static_cast<std::size_t>(field.back() - 'x');
    if (field.starts_with("position_") || field.starts_with("velocity_")) {
      auto& vectors = field.starts_with("position_") ? p.position : p.velocity;
      const auto values = file.reals(what, count);
      for (std::int64_t n = 0; n < count; ++n) vectors[n].at(axis) = values[n];
    } else if (field == "mass") {
      p.mass = file.reals(what, count);
    } else if (field == "identity") {
      p.identity = file.integers(what, count);
    } else if (field == "family") {
      p.family = file.bytes(what, count);
    } else if (field == "birth_time") {
      p.birth_time = file.reals(what, count);
    } else if (field == "metallicity") {
      p.metallicity = file.reals(what, count);
    } else {
      file.skip(what);
    }
  }
  const auto whole = [&](const auto& column) { return std::ssize(column) == count; };
  if (!whole(p.mass) || !whole(p.identity) || !whole(p.family))
    throw InputError("'{}/part_file_descriptor.txt' names no mass, identity or family of particles",
                     facts.folder);
  return p;
}

}  // namespace octant
