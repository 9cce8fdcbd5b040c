// Text files of a RAMSES output: info_NNNNN.txt, header_NNNNN.txt and file descriptors.
//
// Descriptors and headers have two formats: that of RAMSES since November 2017, and the older one,
// which cuRAMSES writes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/input_files.hpp"
#include "ramses/source.hpp"

namespace octant {

namespace {

namespace fs = std::filesystem;

// Numbers of info_NNNNN.txt, one "key = value" per line.
class Info {
 public:
  Info(std::string path, const std::string& text) : path_(std::move(path)) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const auto equals = line.find('=');
      if (equals == std::string::npos) continue;
      values_[trimmed_text(line.substr(0, equals))] = trimmed_text(line.substr(equals + 1));
    }
  }

  double number(const std::string& key) const {
    const auto found = values_.find(key);
    if (found == values_.end())
      throw InputError("'{}' has no line \"{} = ...\": it is not a RAMSES file", path_, key);
    char* end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (end == found->second.c_str() || *end != '\0' || !std::isfinite(value))
      throw InputError("'{}': {} = {} is not a number", path_, key, found->second);
    return value;
  }
  std::int64_t count(const std::string& key, double most) const {
    const double value = number(key);
    if (value != std::floor(value) || value < 0.0 || value > most)
      throw InputError("'{}': {} = {} is not a valid count; expected at most {}", path_, key, value,
                       most);
    return static_cast<std::int64_t>(value);
  }

 private:
  std::string path_;
  std::map<std::string, std::string> values_;
};

// Maximum length of lines that are compared with regular expressions, which use recursion.
constexpr std::size_t k_longest_line = 1000;

// Column names in a descriptor: second words of lines "1, density, d", or last words of lines
// "variable # 1: density".
std::vector<std::string> listed_names(const std::string& path, const std::string& descriptor) {
  static const std::regex line_of_field(R"(\s*\d+\s*,\s*(\w+)\s*,\s*\w\s*)"),
      old_line_of_field(R"(\s*variable\s*#\s*[\d*]+\s*:\s*([\w*]+)\s*)"),
      other_line(R"(\s*(#.*|nvar\s*=\s*\d+\s*)?)");
  std::vector<std::string> names;
  std::istringstream lines(descriptor);
  std::smatch match;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.size() > k_longest_line)
      throw InputError("'{}': line {} has {} characters; expected at most {}", path, number,
                       line.size(), k_longest_line);
    if (std::regex_match(line, match, line_of_field) ||
        std::regex_match(line, match, old_line_of_field))
      names.push_back(match[1]);
    else if (!std::regex_match(line, other_line))
      throw InputError(
          "'{}': line {} (\"{}\") does not name a column; expected lines such as \"1, density, d\" "
          "or \"variable # 1: density\"",
          path, number, trimmed_text(line));
  }
  if (names.empty()) throw InputError("'{}' names no columns", path);
  std::set<std::string> known;
  for (const std::string& name : names) {
    // RAMSES may write all scalars from the tenth on as "passive_scalar_*".
    const bool is_cut_off = name.ends_with('*');
    if (!known.insert(name).second && !is_cut_off)
      throw InputError("'{}' names the column {} twice", path, name);
  }
  return names;
}

constexpr const char* k_fields_follow = "Particle fields";  // in a header, on the line before
constexpr std::int64_t k_most_particles = 1'000'000'000'000'000'000;

// Families of header_NNNNN.txt: lines such as "DM 2000"; tracers have several lines of one name.
std::map<std::string, std::int64_t> families_in(const std::string& header) {
  static const std::regex line_of_family(R"(\s*(\w+)\s+(\d{1,18})\s*)");
  std::map<std::string, std::int64_t> families;
  std::istringstream lines(header);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(k_fields_follow) != std::string::npos) break;
    if (line.size() > k_longest_line || !std::regex_match(line, match, line_of_family)) continue;
    std::int64_t& sum = families[match[1]];
    sum = std::min(sum + std::int64_t{std::stoll(match[2])}, k_most_particles);
  }
  std::erase_if(families, [](const auto& family) { return family.second == 0; });
  return families;
}

// Returns the line after the first one that contains a text.
std::optional<std::string> line_after(const std::string& text, const std::string& before) {
  const std::size_t found = text.find(before);
  const std::size_t end = found == std::string::npos ? found : text.find('\n', found);
  if (end == std::string::npos) return std::nullopt;
  return text.substr(end + 1, text.find('\n', end + 1) - end - 1);
}

// Families of the older header, which has a line "Total number of star particles" followed by a
// line with the number. The remaining particles are clouds of sinks. Empty without such lines.
std::optional<std::map<std::string, std::int64_t>> families_of_totals(const std::string& header) {
  const auto total = [&](const std::string& of_kind) -> std::int64_t {
    const auto line = line_after(header, "Total number of " + of_kind + "particles");
    const std::string digits = line ? trimmed_text(*line) : "";
    const bool is_count = !digits.empty() && digits.size() <= 18 &&
                          digits.find_first_not_of("0123456789") == std::string::npos;
    return is_count ? std::stoll(digits) : -1;
  };
  const std::int64_t all = total(""), dark = total("dark matter "), stars = total("star ");
  if (all < 0 || dark < 0 || stars < 0 || dark + stars > all) return std::nullopt;
  std::map<std::string, std::int64_t> families{
      {"DM", dark}, {"star", stars}, {"cloud", all - dark - stars}};
  std::erase_if(families, [](const auto& family) { return family.second == 0; });
  return families;
}

// Columns of particle files from the older header, which lists them below "Particle fields" under
// other names. "metal" is listed even if files have no such column; "indtab" is never listed.
std::vector<std::string> columns_in(const std::string& path, const std::string& header) {
  static const std::map<std::string, std::vector<std::string>> columns_of{
      {"pos", {"position_x", "position_y", "position_z"}},
      {"vel", {"velocity_x", "velocity_y", "velocity_z"}},
      {"mass", {"mass"}},
      {"iord", {"identity"}},
      {"level", {"levelp"}},
      {"phi", {"potential"}},
      {"tform", {"birth_time"}},
      {"metal", {"metallicity"}},
      {"propertime", {"birth_proper_time"}},
      {"initialmass", {"initial_mass", "indtab"}}};
  const auto fields = line_after(header, k_fields_follow);
  if (!fields)
    throw InputError("'{}' has no line \"Particle fields\", which must precede their names", path);
  std::vector<std::string> columns;
  std::istringstream words(*fields);
  for (std::string word; words >> word;) {
    const auto found = columns_of.find(word);
    if (found == columns_of.end())
      throw InputError("'{}': unknown particle field '{}' below \"Particle fields\"", path, word);
    if (std::ranges::find(columns, found->second.front()) != columns.end())
      throw InputError("'{}' names the particle field '{}' twice", path, word);
    columns.insert(columns.end(), found->second.begin(), found->second.end());
  }
  return columns;
}

std::string group_folder(const RamsesFacts& attributes, int group) {
  return fmt::format("{}/group_{:05d}", attributes.folder, group);
}

// Detects groups of files. If there are several, the first one is full.
void find_groups(const Communicator& communicator, RamsesFacts& attributes) {
  std::int64_t files = 0;
  const std::string first = group_folder(attributes, 1);
  if (communicator.is_root() && fs::is_directory(first))
    for (const auto& entry : fs::directory_iterator(first))
      files += entry.path().filename().string().starts_with("amr_");
  attributes.domains_of_group = static_cast<int>(communicator.max(files));
}

void read_info(const Communicator& communicator, RamsesFacts& attributes) {
  const std::string path = ramses_text_path(attributes, "info", ".txt");
  const auto text = read_on_root(communicator, path);
  if (!text) throw InputError("'{}' is missing: the RAMSES output is incomplete", path);
  const Info info(path, *text);
  attributes.domains = static_cast<int>(info.count("ncpu", 1e6));
  if (const auto dimensions = info.count("ndim", 99); dimensions != 3)
    throw InputError("'{}': the run has {} dimensions; expected 3", path, dimensions);
  attributes.coarsest_level = static_cast<int>(info.count("levelmin", 60));
  attributes.coarse_steps = info.count("nstep_coarse", 1e15);
  for (const auto& [name, number] : k_ramses_numbers) attributes.*number = info.number(name);
  if (attributes.domains < 1 || !(attributes.box_length > 0.0))
    throw InputError("'{}': invalid header: {} domains, box length {}", path, attributes.domains,
                     attributes.box_length);
}

void read_gas_names(const Communicator& communicator, RamsesFacts& attributes) {
  const std::string path = ramses_text_path(attributes, "hydro_file_descriptor.txt");
  const auto text = read_on_root(communicator, path);
  if (!text) return;
  attributes.variables = listed_names(path, *text);
  std::ranges::replace(attributes.variables, std::string("thermal_pressure"),
                       std::string("pressure"));
}

// Reads numbers of particles; from a header of the older format also the columns of their files.
void read_header(const Communicator& communicator, RamsesFacts& attributes) {
  const std::string path = ramses_text_path(attributes, "header", ".txt");
  const auto header = read_on_root(communicator, path);
  if (!header) return;
  attributes.has_families = header->find("Family") != std::string::npos;
  if (attributes.has_families) {
    attributes.families = families_in(*header);
  } else if (const auto families = families_of_totals(*header)) {
    attributes.has_totals = true;
    attributes.families = *families;
    attributes.particle_fields = columns_in(path, *header);
  }
}

// Warns about files that contain state but are not read: radiation, stellar objects, and files of
// patched versions. Tables, texts and timings contain no state.
void report_unread_files(const Communicator& communicator, const RamsesFacts& attributes) {
  if (!communicator.is_root()) return;
  static const std::set<std::string> known{"amr",  "hydro",   "grav",  "part",    "info",
                                           "sink", "cooling", "timer", "info_rt", "header"};
  const std::regex name_of_file(fmt::format("(\\w+)_{}\\.(out\\d*|csv|txt)", attributes.number));
  std::set<std::string> unread;
  for (const auto& entry : fs::directory_iterator(ramses_text_path(attributes, ""))) {
    const std::string name = entry.path().filename().string();
    std::smatch match;
    if (std::regex_match(name, match, name_of_file) && !known.contains(match[1]))
      unread.insert(match[1]);
  }
  if (!unread.empty())
    log::warn("{}: ignored files: {}", attributes.folder, fmt::join(unread, ", "));
}

}  // namespace

std::string trimmed_text(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string ramses_text_path(const RamsesFacts& attributes, const std::string& name) {
  return (attributes.domains_of_group > 0 ? group_folder(attributes, 1) : attributes.folder) + "/" +
         name;
}

std::string ramses_text_path(const RamsesFacts& attributes, const char* kind, const char* ending) {
  return ramses_text_path(attributes, fmt::format("{}_{}{}", kind, attributes.number, ending));
}

std::string ramses_file(const RamsesFacts& attributes, const char* kind, int domain) {
  const int size = attributes.domains_of_group;
  return fmt::format(
      "{}/{}_{}.out{:05d}",
      size > 0 ? group_folder(attributes, (domain - 1) / size + 1) : attributes.folder, kind,
      attributes.number, domain);
}

void read_ramses_texts(const Communicator& communicator, RamsesFacts& attributes) {
  find_groups(communicator, attributes);
  read_info(communicator, attributes);
  read_gas_names(communicator, attributes);
  read_header(communicator, attributes);
  report_unread_files(communicator, attributes);
}

void read_folder_facts(const Communicator& communicator, RamsesFacts& attributes) {
  const auto has_file = [&](const std::string& path) {
    return communicator.any(communicator.is_root() && fs::exists(path));
  };
  const auto has_domains = [&](const char* kind) {
    return has_file(ramses_file(attributes, kind, 1));
  };
  attributes.has_gas = !attributes.variables.empty() || has_domains("hydro");
  attributes.has_forces = has_domains("grav");
  attributes.has_sinks = has_file(ramses_text_path(attributes, "sink", ".csv"));
  if (has_domains("part") && !attributes.has_families && !attributes.has_totals)
    throw InputError(
        "'{}' exists, but '{}' {}: particles require a header with the number of particles per "
        "family, or with the total numbers of particles, dark matter particles and star particles",
        ramses_file(attributes, "part", 1), ramses_text_path(attributes, "header", ".txt"),
        has_file(ramses_text_path(attributes, "header", ".txt"))
            ? "lists no families and no total numbers of particles"
            : "is missing");
  if (!attributes.has_families || attributes.families.empty()) return;
  const std::string fields = ramses_text_path(attributes, "part_file_descriptor.txt");
  const auto text = read_on_root(communicator, fields);
  if (!text) throw InputError("'{}' is missing: it is required to read the particle files", fields);
  attributes.particle_fields = listed_names(fields, *text);
}

}  // namespace octant
