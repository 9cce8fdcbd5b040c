#include "io/grafic_folder.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"

namespace octant {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_level_prefix = "level_";
constexpr std::string_view k_scalar_prefix = "ic_pvar_";
const std::set<std::string, std::less<>> k_fields{"ic_deltab", "ic_velbx", "ic_velby", "ic_velbz",
                                                  "ic_velcx",  "ic_velcy", "ic_velcz", "ic_poscx",
                                                  "ic_poscy",  "ic_poscz", "ic_refmap"};
// Headers are in single precision; a corner may be off by this share of a cell.
constexpr double k_tolerance = 0.05;

std::string level_name(int number) { return fmt::format("{}{:03}", k_level_prefix, number); }

// The number in "level_NNN", or -1.
int level_number(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (!entry.is_directory() || !name.starts_with(k_level_prefix)) return -1;
  int number = -1;
  std::from_chars(name.data() + k_level_prefix.size(), name.data() + name.size(), number);
  return number;
}

std::vector<int> level_numbers(const std::string& folder) {
  if (!fs::is_directory(folder)) throw InputError("there is no folder '{}'", folder);
  std::vector<int> numbers;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const int number = level_number(entry); number >= 0) numbers.push_back(number);
  if (numbers.empty())
    throw InputError(
        "the folder '{}' holds no grafic levels: subfolders level_005 and so on are "
        "expected; give the folder that contains them",
        folder);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t n = 1; n < numbers.size(); ++n)
    if (numbers[n] != numbers[n - 1] + 1)
      throw InputError("'{}' holds {} and {}, but nothing between: {} is missing", folder,
                       level_name(numbers[n - 1]), level_name(numbers[n]),
                       level_name(numbers[n - 1] + 1));
  return numbers;
}

std::set<std::string> fields_in(const std::string& folder) {
  std::set<std::string> fields;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (k_fields.contains(name) || name.starts_with(k_scalar_prefix)) fields.insert(name);
  }
  return fields;
}

// Scalars are numbered without gaps: what lies behind one would not be read.
void check_scalars(const std::string& folder, const std::set<std::string>& fields) {
  int count = 0;
  for (const std::string& field : fields) {
    if (!field.starts_with(k_scalar_prefix)) continue;
    if (const std::string expected = fmt::format("{}{:05}", k_scalar_prefix, ++count);
        field != expected)
      throw InputError("the levels of '{}' hold {}, but no {}: scalars are numbered from 1 on",
                       folder, field, expected);
  }
}

// Names files of initial conditions that are not read, such as ic_particle_ids.
void report_others(const std::string& folder, const std::vector<int>& numbers) {
  std::set<std::string> others;
  for (const int number : numbers)
    for (const auto& entry : fs::directory_iterator(folder + "/" + level_name(number))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("ic_") && !k_fields.contains(name) && !name.starts_with(k_scalar_prefix))
        others.insert(name);
    }
  if (!others.empty())
    log::warn("{}: {} not read: {} and {}NNNNN are the fields that Octant uses", folder,
              fmt::join(others, ", "), fmt::join(k_fields, ", "), k_scalar_prefix);
}

// Those of all levels; every level must have them.
std::set<std::string> common_fields(const std::string& folder, const std::vector<int>& numbers) {
  const std::set<std::string> all = fields_in(folder + "/" + level_name(numbers.front()));
  if (all.empty())
    throw InputError("'{}/{}' holds no grafic files: ic_velcx and others are expected", folder,
                     level_name(numbers.front()));
  for (const int number : numbers) {
    const std::string level = folder + "/" + level_name(number);
    const std::set<std::string> present = fields_in(level);
    for (const std::string& field : all)
      if (!present.contains(field))
        throw InputError("'{}/{}' is missing, though {} has it", level, field,
                         level_name(numbers.front()));
    for (const std::string& field : present)
      if (!all.contains(field))
        throw InputError("'{}/{}/{}' is missing, though {} has it", folder,
                         level_name(numbers.front()), field, level_name(number));
  }
  return all;
}

// A vector has all its components, or none.
void check_components(const std::string& folder, const std::set<std::string>& fields) {
  for (const std::string vector : {"ic_velb", "ic_velc", "ic_posc"}) {
    std::vector<std::string> missing;
    for (const char axis : {'x', 'y', 'z'})
      if (!fields.contains(vector + axis)) missing.push_back(vector + axis);
    if (!missing.empty() && missing.size() < 3)
      throw InputError("the levels of '{}' hold no {}, but the other components of {}", folder,
                       fmt::join(missing, " and "), vector);
  }
}

GraficHeader common_header(const std::string& level, const std::set<std::string>& fields) {
  const std::string first = level + "/" + *fields.begin();
  const GraficHeader header = GraficFile(first).header();
  for (const std::string& field : fields) {
    const std::string path = level + "/" + field;
    const GraficHeader other = GraficFile(path).header();
    if (other.cells != header.cells)
      throw InputError("'{}' has {} cells, but '{}' has {}: all fields of a level need one grid",
                       path, fmt::join(other.cells, " x "), first, fmt::join(header.cells, " x "));
    if (other != header)
      throw InputError(
          "the headers of '{}' and '{}' differ: all fields of a level need one grid, "
          "scale factor and cosmology",
          path, first);
  }
  return header;
}

// The lower corner in cells.
std::array<int, 3> origin_of(const std::string& level, const GraficHeader& header) {
  std::array<int, 3> origin;
  for (int axis = 0; axis < 3; ++axis) {
    const double place = static_cast<double>(header.offset[axis]) / header.spacing;
    origin[axis] = static_cast<int>(std::lround(place));
    if (std::abs(place - origin[axis]) > k_tolerance)
      throw InputError("'{}' begins at cell {} along {}: levels must begin at whole cells", level,
                       place, "xyz"[axis]);
  }
  return origin;
}

void check_whole_box(const std::string& name, const GraficLevel& level) {
  const int side = level.number < 31 ? 1 << level.number : 0;
  if (level.header.cells != std::array{side, side, side})
    throw InputError(
        "'{}' must be the whole box, of {} cells along each axis, but has {}; is a "
        "coarser level missing?",
        name, side, fmt::join(level.header.cells, " x "));
  if (level.origin != std::array{0, 0, 0})
    throw InputError("'{}' must be the whole box, but begins at cell {}", name,
                     fmt::join(level.origin, ", "));
}

void check_nested(const std::string& name, const GraficLevel& fine, const GraficLevel& coarse) {
  const double ratio = static_cast<double>(coarse.header.spacing) / fine.header.spacing;
  if (std::abs(ratio - 2.0) > 1e-4)
    throw InputError("'{}' has cells of {} Mpc, but half of {} Mpc is expected", name,
                     fine.header.spacing, coarse.header.spacing);
  for (int axis = 0; axis < 3; ++axis) {
    const int begin = fine.origin[axis], end = begin + fine.header.cells[axis];
    const int outer = 2 * coarse.origin[axis], outer_end = outer + 2 * coarse.header.cells[axis];
    if (begin % 2 != 0 || end % 2 != 0)
      throw InputError(
          "'{}' holds cells {} to {} along {}: it cuts cells of the next coarser "
          "level in half",
          name, begin, end - 1, "xyz"[axis]);
    if (begin < outer || end > outer_end)
      throw InputError(
          "'{}' holds cells {} to {} along {}, beyond the next coarser level, "
          "which ends at {} and {}",
          name, begin, end - 1, "xyz"[axis], outer, outer_end - 1);
  }
  const auto& [f, c] = std::tie(fine.header, coarse.header);
  if (f.scale_factor != c.scale_factor || f.omega_m != c.omega_m ||
      f.omega_lambda != c.omega_lambda || f.hubble != c.hubble)
    throw InputError("'{}' has another scale factor or cosmology than the coarser level", name);
}

std::vector<GraficLevel> levels_of(const std::string& folder, const std::vector<int>& numbers,
                                   const std::set<std::string>& fields) {
  std::vector<GraficLevel> levels;
  for (const int number : numbers) {
    const std::string name = folder + "/" + level_name(number);
    const GraficHeader header = common_header(name, fields);
    const GraficLevel level{number, header, origin_of(name, header)};
    if (levels.empty()) check_whole_box(name, level);
    else check_nested(name, level, levels.back());
    levels.push_back(level);
  }
  return levels;
}

void broadcast(const Communicator& communicator, std::vector<std::string>& texts) {
  auto count = static_cast<std::uint64_t>(texts.size());
  communicator.broadcast(count);
  texts.resize(count);
  for (std::string& text : texts) communicator.broadcast(text);
}

}  // namespace

GraficFolder::GraficFolder(const Communicator& communicator, std::string path)
    : path_(std::move(path)) {
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const std::vector<int> numbers = level_numbers(path_);
    const std::set<std::string> fields = common_fields(path_, numbers);
    check_components(path_, fields);
    check_scalars(path_, fields);
    report_others(path_, numbers);
    levels_ = levels_of(path_, numbers, fields);
    fields_.assign(fields.begin(), fields.end());
  });
  communicator.broadcast(levels_);
  broadcast(communicator, fields_);
}

bool GraficFolder::has(const std::string& field) const {
  return std::binary_search(fields_.begin(), fields_.end(), field);
}

std::string GraficFolder::file(int level, const std::string& field) const {
  return path_ + "/" + level_name(levels_.at(static_cast<std::size_t>(level)).number) + "/" + field;
}

}  // namespace octant
