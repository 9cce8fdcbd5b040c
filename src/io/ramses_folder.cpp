// Output folders of RAMSES (Teyssier 2002): output_NNNNN with text about the run and, of every
// domain (a rank of the run that wrote it), one binary file of its octs, one of their gas, and one
// of its particles. They lie in the folder itself, or in group_00001, group_00002, ..., of which
// the first has the texts (IOGROUPSIZEREP).
//
// Files hold the octs level by level, of each level first those of domain 1, then of 2, ...: beside
// its own a domain keeps copies of its neighbours'; behind them come those beyond the walls.
// Variables are primitive: density, velocity, pressure, concentrations.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <regex>
#include <set>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>

#include "comm/route.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "io/fortran_file.hpp"
#include "io/ramses_domain.hpp"
#include "io/ramses_kinds.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

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
      throw InputError("'{}': {} = {} is not a number", path_, key, found->second);
    return value;
  }
  std::int64_t count(const std::string& key) const {
    const double value = number(key);
    if (value != std::floor(value) || value < 0.0 || value > 1e15)
      throw InputError("'{}': {} = {} is not a valid count", path_, key, value);
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

// Where the first group of files lies, if they lie in groups.
std::string first_group(const RamsesFacts& facts) { return facts.folder + "/group_00001"; }

std::string text_of(const RamsesFacts& facts, const char* kind, const char* ending) {
  return fmt::format("{}/{}_{}{}", ramses_text_folder(facts), kind, facts.number, ending);
}

// Whether files lie in groups: the first one, if there are several, is full.
void find_groups(const Communicator& communicator, RamsesFacts& facts) {
  std::int64_t files = 0;
  if (communicator.is_root() && fs::is_directory(first_group(facts)))
    for (const auto& entry : fs::directory_iterator(first_group(facts)))
      files += entry.path().filename().string().starts_with("amr_");
  facts.domains_of_group = static_cast<int>(communicator.max(files));
}

// Names kinds of files of the output that hold a state and are not read: radiation, stellar
// objects, and what patches add. Tables, texts and timings are no part of it.
void report_unread_files(const Communicator& communicator, const RamsesFacts& facts) {
  if (!communicator.is_root()) return;
  static const std::set<std::string> known{"amr",  "hydro",   "grav",  "part",    "info",
                                           "sink", "cooling", "timer", "info_rt", "header"};
  const std::regex name_of_file(fmt::format("(\\w+)_{}\\.(out\\d*|csv|txt)", facts.number));
  std::set<std::string> unread;
  for (const auto& entry : fs::directory_iterator(ramses_text_folder(facts))) {
    const std::string name = entry.path().filename().string();
    std::smatch match;
    if (std::regex_match(name, match, name_of_file) && !known.contains(match[1]))
      unread.insert(match[1]);
  }
  if (!unread.empty())
    log::warn("{}: files that are not read: {}", facts.folder, fmt::join(unread, ", "));
}

}  // namespace

void read_folder_facts(const Communicator& communicator, RamsesFacts& facts) {
  find_groups(communicator, facts);
  const std::string info_path = text_of(facts, "info", ".txt");
  const auto info_text = shared_text(communicator, info_path);
  if (!info_text) throw InputError("'{}' is missing: the RAMSES output is incomplete", info_path);
  const Info info(info_path, *info_text);
  facts.domains = static_cast<int>(info.count("ncpu"));
  if (info.count("ndim") != 3)
    throw InputError("'{}': the run has {} dimensions; 3 are needed", info_path,
                     info.count("ndim"));
  facts.coarsest_level = static_cast<int>(info.count("levelmin"));
  facts.coarse_steps = info.count("nstep_coarse");
  for (const auto& [name, number] : k_ramses_numbers) facts.*number = info.number(name);
  if (facts.domains < 1 || !(facts.box_length > 0.0))
    throw InputError("'{}': invalid header: {} domains, box length {}", info_path, facts.domains,
                     facts.box_length);
  if (const auto text =
          shared_text(communicator, ramses_text_folder(facts) + "/hydro_file_descriptor.txt"))
    facts.variables = names_in(*text);
  const auto header = shared_text(communicator, text_of(facts, "header", ".txt"));
  if (header) facts.families = families_in(*header);
  // Outputs before November 2017 name no families: their particles would be passed by.
  const std::string particles = ramses_file(facts, "part", 1);
  if (communicator.any(communicator.is_root() && fs::exists(particles)) &&
      (!header || header->find("Family") == std::string::npos))
    throw InputError(
        "'{}' is there, but '{}' {}: it must count the particles of each family, as RAMSES does "
        "since November 2017",
        particles, text_of(facts, "header", ".txt"), header ? "names no families" : "is missing");
  report_unread_files(communicator, facts);
  const std::string gas = ramses_file(facts, "hydro", 1);
  facts.has_gas =
      !facts.variables.empty() || communicator.any(communicator.is_root() && fs::exists(gas));
  facts.has_forces =
      communicator.any(communicator.is_root() && fs::exists(ramses_file(facts, "grav", 1)));
  facts.has_sinks = shared_text(communicator, text_of(facts, "sink", ".csv")).has_value();
  if (facts.families.empty()) return;
  const std::string fields = ramses_text_folder(facts) + "/part_file_descriptor.txt";
  const auto text = shared_text(communicator, fields);
  if (!text) throw InputError("'{}' is missing: it is required to read the particle files", fields);
  facts.particle_fields = names_in(*text);
}

namespace {

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

// Numbers that RAMSES counts over all domains: all files of an output have the same.
class RunCounts {
 public:
  void add(std::int64_t stars, std::int64_t sinks) {
    const std::int64_t numbers[] = {stars, sinks};
    for (int n = 0; n < 2; ++n) {
      bounds_[2 * n] = std::max(bounds_[2 * n], numbers[n]);
      bounds_[2 * n + 1] = std::max(bounds_[2 * n + 1], -numbers[n]);
    }
  }

  // Throws InputError where files differ. Collective.
  void compare(const Communicator& communicator, const RamsesFacts& facts) const {
    auto bounds = bounds_;
    communicator.max_in_place(std::span<std::int64_t>(bounds));
    for (int n = 0; n < 2; ++n)
      if (bounds[2 * n] != -bounds[2 * n + 1])
        throw InputError(
            "'{}': part_{}.out* say that the run has formed {} to {} {}, all files of an output "
            "the same: files of several outputs are mixed",
            facts.folder, facts.number, -bounds[2 * n + 1], bounds[2 * n],
            n == 0 ? "stars" : "sinks");
  }

 private:
  static constexpr std::int64_t k_none = std::numeric_limits<std::int64_t>::min();
  std::array<std::int64_t, 4> bounds_{k_none, k_none, k_none, k_none};  // largest, -smallest
};

// Adds those of a domain.
void read_particles(const RamsesFacts& facts, int number, RamsesParticles& all, RunCounts& counts) {
  FortranFile file(ramses_file(facts, "part", number));
  if (const std::int64_t domains = file.integer("ncpu"); domains != facts.domains)
    file.refuse("ncpu",
                fmt::format("{} where info_{}.txt has {}", domains, facts.number, facts.domains));
  if (file.integer("ndim") != 3) file.refuse("ndim", "3 are needed");
  const std::int64_t count = file.integer("npart");
  if (count < 0) file.refuse("npart", fmt::format("{} particles", count));
  file.skip("localseed");
  const std::int64_t stars = file.integer("nstar_tot");
  file.skip("mstar_tot, mstar_lost", 2);
  counts.add(stars, file.integer("nsink"));
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
        ramses_text_folder(facts));
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
  std::vector<std::string> unread;
  const std::set<std::string> read{"id", "msink", "x", "y", "z", "vx", "vy", "vz", "tform"};
  for (const std::string& name : names)
    if (!name.empty() && !read.contains(name)) unread.push_back(name);
  if (!unread.empty()) log::info("{}: columns not read: {}", path, fmt::join(unread, ", "));
  return sinks;
}

// A folder with files of every domain.
class RamsesFolder final : public RamsesSource {
 public:
  RamsesFolder(const Communicator& communicator, const RamsesFacts& facts, int chunk,
               RamsesCells cells)
      : RamsesSource(communicator, facts, chunk), cells_(cells) {
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
    if (facts_.domains > 1)
      for (int round = 0; round < rounds(); ++round) compare_copies(round);
    if (cells_ == RamsesCells::gas && facts_.has_gas)
      communicator_.agree([&] {
        for (const auto& [domain, file] : files_) compare_with_fathers(file);
      });
  }

  void read(int round, RowRange some, RamsesOcts& octs) override {
    octs.resize(some.count, k_cells_of_ramses_oct * variables_);
    communicator_.agree([&] {
      for (const auto& [domain, part, at] : pieces(round, some))
        files_.at(domain).read(part, octs, at);
    });
  }

  RamsesParticles particles(int round) override {
    RamsesParticles particles;
    RunCounts counts = counts_;
    communicator_.agree([&] {
      for (const int domain : domains(round)) read_particles(facts_, domain, particles, counts);
    });
    counts.compare(communicator_, facts_);
    counts_ = counts;
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

  // Compares the copies of octs that the domains of a round hold with the originals. Heads of files
  // say nothing of the time of their values: copies show that all of them are of one output.
  // Collective.
  void compare_copies(int round) const {
    std::vector<RamsesOctImage> held;
    communicator_.agree([&] {
      for (const int domain : domains(round))
        files_.at(domain).add_images(RamsesDomain::Images::copies, held);
    });
    std::vector<int> readers;
    for (const RamsesOctImage& copy : held)
      readers.push_back((copy.owner - 1) % communicator_.size());
    auto copies = route(communicator_, readers, std::span<const RamsesOctImage>(held)).items;
    std::ranges::sort(copies, {}, &RamsesOctImage::owner);
    communicator_.agree([&] {
      for (auto first = copies.begin(); first != copies.end();) {
        const auto last = std::ranges::find_if(
            first, copies.end(), [&](const RamsesOctImage& c) { return c.owner != first->owner; });
        compare_with_originals(files_.at(first->owner), std::span(first, last));
        first = last;
      }
    });
  }

  static void compare_with_originals(const RamsesDomain& domain,
                                     std::span<const RamsesOctImage> copies) {
    constexpr double k_rounding = 1e-6;  // of single precision
    std::vector<RamsesOctImage> own;
    domain.add_images(RamsesDomain::Images::own, own);
    std::ranges::sort(own, {}, &RamsesOctImage::place);
    std::size_t different = 0;
    for (const RamsesOctImage& copy : copies) {
      const auto found = std::ranges::lower_bound(own, copy.place, {}, &RamsesOctImage::place);
      const bool is_there = found != own.end() && found->place == copy.place;
      bool same = is_there;
      for (int cell = 0; same && cell < k_cells_of_ramses_oct; ++cell) {
        const double a = found->first_variable[cell], b = copy.first_variable[cell];
        // What is no number is refused where it is read.
        same = !(std::abs(a - b) > k_rounding * std::max(std::abs(a), std::abs(b)));
      }
      different += !same;
    }
    if (different > 0)
      throw InputError(
          "'{}': {} of {} octs of a level differ from their copies in files of other domains: "
          "files of several outputs are mixed",
          domain.values_path(), different, copies.size());
  }

  // A cell that is divided has the mean density of its octs in every file that RAMSES writes.
  // Values of a tree that is refined elsewhere do not fit. Patches may change some cells after the
  // means were taken, but not many of them.
  static void compare_with_fathers(const RamsesDomain& domain) {
    constexpr double k_rounding = 1e-5, k_most_changed = 0.1;
    if (domain.count() == 0 || domain.level() == 1) return;
    std::vector<RamsesOctImage> fathers, own;
    domain.add_images(RamsesDomain::Images::of_level_before, fathers);
    domain.add_images(RamsesDomain::Images::own, own);
    std::ranges::sort(fathers, {}, &RamsesOctImage::place);
    std::size_t different = 0;
    for (const RamsesOctImage& oct : own) {
      std::array<std::int64_t, 3> place = oct.place;
      std::size_t cell = 0;
      for (int d = 0; d < 3; ++d) {
        cell |= static_cast<std::size_t>(place[d] & 1) << d;
        place[d] >>= 1;
      }
      const auto father = std::ranges::lower_bound(fathers, place, {}, &RamsesOctImage::place);
      if (father == fathers.end() || father->place != place) {
        ++different;
        continue;
      }
      double mean = 0.0;
      for (const double density : oct.first_variable) mean += density / k_cells_of_ramses_oct;
      const double expected = father->first_variable[cell];
      different += std::abs(mean - expected) > k_rounding * std::abs(expected);
    }
    if (static_cast<double>(different) > k_most_changed * static_cast<double>(own.size()))
      throw InputError(
          "'{}': {} of {} octs of level {} do not match the density of their parent cell: values "
          "and tree belong to different outputs",
          domain.values_path(), different, own.size(), domain.level());
  }

  std::map<int, RamsesDomain> files_;
  RamsesCells cells_;
  int variables_ = 0;
  RunCounts counts_;  // of the rounds so far
};

}  // namespace

std::unique_ptr<RamsesSource> open_folder(const Communicator& communicator,
                                          const RamsesFacts& facts, int chunk, RamsesCells cells) {
  return std::make_unique<RamsesFolder>(communicator, facts, chunk, cells);
}

}  // namespace octant
