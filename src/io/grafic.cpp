#include "io/grafic.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/ranges.h>

#include "core/error.hpp"
#include "core/log.hpp"
#include "io/files.hpp"

namespace octant {
namespace {

static_assert(std::endian::native == std::endian::little,
              "grafic files are read without byte swapping");
static_assert(sizeof(GraficHeader) == 44, "the header is read without byte swapping");

using Marker = std::uint32_t;
constexpr std::int64_t k_marker_bytes = sizeof(Marker);
constexpr std::int64_t k_header_record = sizeof(GraficHeader) + 2 * k_marker_bytes;

Marker swapped(Marker marker) {
  return (marker >> 24) | ((marker >> 8) & 0xFF00) | ((marker << 8) & 0xFF0000) | (marker << 24);
}

std::int64_t plane_bytes(const GraficHeader& header) {
  return header.plane_cells() * static_cast<std::int64_t>(sizeof(float));
}
std::int64_t plane_record(const GraficHeader& header) {
  return plane_bytes(header) + 2 * k_marker_bytes;
}
std::int64_t plane_offset(const GraficHeader& header, std::int64_t plane) {
  return k_header_record + plane * plane_record(header);
}

PosixFile open_input(const std::string& path) {
  try {
    return PosixFile(path, PosixFile::Mode::read);
  } catch (const RunError& error) {
    throw InputError("{}: initial conditions are missing or not readable", error.what());
  }
}

// Markers before and after a record.
std::array<Marker, 2> markers_of(std::span<const std::byte> record) {
  std::array<Marker, 2> markers;
  std::memcpy(&markers[0], record.data(), k_marker_bytes);
  std::memcpy(&markers[1], record.data() + record.size() - k_marker_bytes, k_marker_bytes);
  return markers;
}

void check_header_markers(const std::string& path, const std::array<Marker, 2>& markers) {
  const auto expected = static_cast<Marker>(sizeof(GraficHeader));
  if (markers[0] == expected && markers[1] == expected) return;
  if (markers[0] == swapped(expected))
    throw InputError(
        "'{}' is big-endian, but grafic files must be little-endian: write it on a little-endian "
        "machine, or swap the bytes of all four-byte numbers",
        path);
  throw InputError(
      "'{}' is not a grafic2 file: the first record must have {} bytes, but the record markers "
      "give {} and {}",
      path, expected, markers[0], markers[1]);
}

void check_numbers(const std::string& path, const GraficHeader& header) {
  const auto [nx, ny, nz] = header.cells;
  if (std::min({nx, ny, nz}) < 1)
    throw InputError("'{}': invalid grid of {} x {} x {} cells", path, nx, ny, nz);
  // Larger records have no valid markers.
  if (header.plane_cells() > INT32_MAX / static_cast<std::int64_t>(sizeof(float)))
    throw InputError("'{}': planes of {} x {} cells are too large for grafic2", path, nx, ny);
  for (const float positive : {header.spacing, header.scale_factor, header.hubble})
    if (!(positive > 0.0F) || !std::isfinite(positive))
      throw InputError(
          "'{}': invalid header: cells of {} Mpc, scale factor {}, H0 = {} km/s/Mpc; expected "
          "positive numbers",
          path, header.spacing, header.scale_factor, header.hubble);
}

void check_length(const std::string& path, const GraficHeader& header, std::int64_t bytes) {
  const std::int64_t expected = plane_offset(header, header.cells[2]);
  const auto [nx, ny, nz] = header.cells;
  if (bytes < expected)
    throw InputError(
        "'{}' is truncated: {} x {} x {} cells require {} bytes, but the file has only {}, "
        "enough for {} of {} planes; copy or generate it again",
        path, nx, ny, nz, expected, bytes, (bytes - k_header_record) / plane_record(header), nz);
  if (bytes > expected)
    throw InputError("'{}' has {} bytes, but {} x {} x {} cells of four bytes require {}", path,
                     bytes, nx, ny, nz, expected);
}

GraficHeader read_header(const PosixFile& file) {
  const std::int64_t bytes = file.size();
  if (bytes < k_header_record)
    throw InputError("'{}' is truncated: it has {} bytes, less than the header of {} bytes",
                     file.path(), bytes, k_header_record);
  std::array<std::byte, k_header_record> record;
  file.read_at(0, record);
  check_header_markers(file.path(), markers_of(record));
  GraficHeader header;
  std::memcpy(&header, record.data() + k_marker_bytes, sizeof(header));
  check_numbers(file.path(), header);
  check_length(file.path(), header, bytes);
  return header;
}

// Appends bytes between two markers to `records`.
void append_record(std::vector<std::byte>& records, std::span<const std::byte> bytes) {
  const auto marker = static_cast<Marker>(bytes.size());
  const auto marker_bytes = std::as_bytes(std::span(&marker, 1));
  records.insert(records.end(), marker_bytes.begin(), marker_bytes.end());
  records.insert(records.end(), bytes.begin(), bytes.end());
  records.insert(records.end(), marker_bytes.begin(), marker_bytes.end());
}

}  // namespace

GraficFile::GraficFile(const std::string& path)
    : file_(open_input(path)), header_(read_header(file_)) {}

std::vector<float> GraficFile::planes(RowRange planes) const {
  const auto bytes = static_cast<Marker>(plane_bytes(header_));
  std::vector<float> values(static_cast<std::size_t>(planes.count * header_.plane_cells()));
  std::vector<std::byte> record(static_cast<std::size_t>(plane_record(header_)));
  for (std::int64_t n = 0; n < planes.count; ++n) {
    const std::int64_t plane = planes.begin + n;
    file_.read_at(plane_offset(header_, plane), record);
    const auto markers = markers_of(record);
    if (markers[0] != bytes || markers[1] != bytes)
      throw InputError(
          "'{}' is corrupt: plane {} of {} has {} bytes, but the record markers give {} and {}",
          file_.path(), plane, header_.cells[2], bytes, markers[0], markers[1]);
    std::memcpy(values.data() + n * header_.plane_cells(), record.data() + k_marker_bytes, bytes);
  }
  return values;
}

void write_grafic(const Communicator& communicator, const std::string& path,
                  const GraficHeader& header, RowRange planes, std::span<const float> values) {
  OCTANT_REQUIRE(std::ssize(values) == planes.count * header.plane_cells(),
                 "{} values were given for {} planes of {}", values.size(), planes.count,
                 header.plane_cells());
  WholeFile whole(communicator, path);
  communicator.collective_try([&] {
    PosixFile file(whole.part_path(), PosixFile::Mode::update);
    std::vector<std::byte> record;
    if (communicator.is_root()) {
      append_record(record, std::as_bytes(std::span(&header, 1)));
      file.write_at(0, record);
    }
    const auto cells = static_cast<std::size_t>(header.plane_cells());
    for (std::int64_t n = 0; n < planes.count; ++n) {
      record.clear();
      append_record(record, std::as_bytes(values.subspan(n * cells, cells)));
      file.write_at(plane_offset(header, planes.begin + n), record);
    }
    file.sync();
  });
  whole.commit();
}
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_level_prefix = "level_";
constexpr std::string_view k_scalar_prefix = "ic_pvar_";
const std::set<std::string, std::less<>> k_fields{"ic_deltab", "ic_velbx", "ic_velby", "ic_velbz",
                                                  "ic_velcx",  "ic_velcy", "ic_velcz", "ic_poscx",
                                                  "ic_poscy",  "ic_poscz", "ic_refmap"};
// Tolerance of corners in cells, because headers are in single precision.
constexpr double k_tolerance = 0.05;

std::string level_name(int number) { return fmt::format("{}{:03}", k_level_prefix, number); }

// Maximum level: cells have 32-bit indices.
constexpr int k_finest_level = 30;

// Returns the number in "level_NNN", or -1.
int level_number(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (!entry.is_directory() || !name.starts_with(k_level_prefix)) return -1;
  int number = -1;
  std::from_chars(name.data() + k_level_prefix.size(), name.data() + name.size(), number);
  return number <= k_finest_level && name == level_name(number) ? number : -1;
}

std::vector<int> level_numbers(const std::string& folder) {
  if (!fs::is_directory(folder)) throw InputError("the directory '{}' does not exist", folder);
  std::vector<int> numbers;
  for (const auto& entry : fs::directory_iterator(folder))
    if (const int number = level_number(entry); number >= 0) numbers.push_back(number);
  if (numbers.empty())
    throw InputError(
        "the directory '{}' contains no grafic levels: expected subdirectories level_005 and so "
        "on; specify the directory that contains them",
        folder);
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t n = 1; n < numbers.size(); ++n)
    if (numbers[n] != numbers[n - 1] + 1)
      throw InputError("'{}' contains {} and {}, but no levels in between: {} is missing", folder,
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

// Scalars must be numbered without gaps: those after a gap would be ignored.
void check_scalars(const std::string& folder, const std::set<std::string>& fields) {
  int count = 0;
  for (const std::string& field : fields) {
    if (!field.starts_with(k_scalar_prefix)) continue;
    if (const std::string expected = fmt::format("{}{:05}", k_scalar_prefix, ++count);
        field != expected)
      throw InputError(
          "the levels of '{}' contain {}, but not {}: scalars must be numbered consecutively from "
          "1",
          folder, field, expected);
  }
}

// Reports initial-condition files that are not read, such as ic_particle_ids.
void report_others(const std::string& folder, const std::vector<int>& numbers) {
  std::set<std::string> others;
  for (const int number : numbers)
    for (const auto& entry : fs::directory_iterator(folder + "/" + level_name(number))) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("ic_") && !k_fields.contains(name) && !name.starts_with(k_scalar_prefix))
        others.insert(name);
    }
  if (!others.empty())
    log::warn("{}: ignored {}: Octant only uses the fields {} and {}NNNNN", folder,
              fmt::join(others, ", "), fmt::join(k_fields, ", "), k_scalar_prefix);
}

// Returns the fields of all levels; every level must have the same.
std::set<std::string> common_fields(const std::string& folder, const std::vector<int>& numbers) {
  const std::set<std::string> all = fields_in(folder + "/" + level_name(numbers.front()));
  if (all.empty())
    throw InputError("'{}/{}' contains no grafic files: expected ic_velcx and others", folder,
                     level_name(numbers.front()));
  for (const int number : numbers) {
    const std::string level = folder + "/" + level_name(number);
    const std::set<std::string> present = fields_in(level);
    for (const std::string& field : all)
      if (!present.contains(field))
        throw InputError("'{}/{}' is missing, although it is present in {}", level, field,
                         level_name(numbers.front()));
    for (const std::string& field : present)
      if (!all.contains(field))
        throw InputError("'{}/{}/{}' is missing, although it is present in {}", folder,
                         level_name(numbers.front()), field, level_name(number));
  }
  return all;
}

// Checks that vectors have all components or none.
void check_components(const std::string& folder, const std::set<std::string>& fields) {
  for (const std::string vector : {"ic_velb", "ic_velc", "ic_posc"}) {
    std::vector<std::string> missing;
    for (const char axis : {'x', 'y', 'z'})
      if (!fields.contains(vector + axis)) missing.push_back(vector + axis);
    if (!missing.empty() && missing.size() < 3)
      throw InputError(
          "the levels of '{}' do not contain {}, but contain the other components of {}", folder,
          fmt::join(missing, " and "), vector);
  }
}

GraficHeader common_header(const std::string& level, const std::set<std::string>& fields) {
  const std::string first = level + "/" + *fields.begin();
  const GraficHeader header = GraficFile(first).header();
  for (const std::string& field : fields) {
    const std::string path = fmt::format("{}/{}", level, field);
    const GraficHeader other = GraficFile(path).header();
    if (other.cells != header.cells)
      throw InputError(
          "'{}' has {} cells, but '{}' has {}: all fields of a level must have the same grid", path,
          fmt::join(other.cells, " x "), first, fmt::join(header.cells, " x "));
    if (other != header)
      throw InputError(
          "the headers of '{}' and '{}' differ: all fields of a level must have the same grid, "
          "scale factor and cosmology",
          path, first);
  }
  return header;
}

// Lower corner in cells.
std::array<int, 3> origin_of(const std::string& level, const GraficHeader& header) {
  std::array<int, 3> origin;
  for (int axis = 0; axis < 3; ++axis) {
    const double offset = static_cast<double>(header.offset[axis]) / header.spacing;
    const bool is_index = std::abs(offset) <= std::ldexp(1.0, k_finest_level);
    if (is_index) origin[axis] = static_cast<int>(std::lround(offset));
    if (!is_index || std::abs(offset - origin[axis]) > k_tolerance)
      throw InputError(
          "'{}' starts at cell {} along {}: the grid of each level must start at a cell boundary",
          level, offset, "xyz"[axis]);
  }
  return origin;
}

void check_whole_box(const std::string& name, const GraficLevel& level) {
  const int side = 1 << level.number;
  if (level.header.cells != std::array{side, side, side})
    throw InputError(
        "'{}' must cover the whole box with {} cells along each axis, but has {}; a coarser level "
        "may be missing",
        name, side, fmt::join(level.header.cells, " x "));
  if (level.origin != std::array{0, 0, 0})
    throw InputError("'{}' must cover the whole box, but starts at cell {}", name,
                     fmt::join(level.origin, ", "));
}

void check_nested(const std::string& name, const GraficLevel& fine, const GraficLevel& coarse) {
  const double ratio = static_cast<double>(coarse.header.spacing) / fine.header.spacing;
  if (std::abs(ratio - 2.0) > 1e-4)
    throw InputError("'{}' has cells of {} Mpc; expected half of {} Mpc", name, fine.header.spacing,
                     coarse.header.spacing);
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t begin = fine.origin[axis], end = begin + fine.header.cells[axis];
    const std::int64_t outer = 2 * std::int64_t{coarse.origin[axis]};
    const std::int64_t outer_end = outer + 2 * std::int64_t{coarse.header.cells[axis]};
    if (begin % 2 != 0 || end % 2 != 0)
      throw InputError(
          "'{}' covers cells {} to {} along {}; this range is not aligned with the cells of the "
          "next "
          "coarser level",
          name, begin, end - 1, "xyz"[axis]);
    if (begin < outer || end > outer_end)
      throw InputError(
          "'{}' covers cells {} to {} along {}, but the next coarser level covers only cells {} to "
          "{} (in cells of the finer level)",
          name, begin, end - 1, "xyz"[axis], outer, outer_end - 1);
  }
  const auto& [f, c] = std::tie(fine.header, coarse.header);
  if (f.scale_factor != c.scale_factor || f.omega_m != c.omega_m ||
      f.omega_lambda != c.omega_lambda || f.hubble != c.hubble)
    throw InputError("the scale factor or cosmology of '{}' differs from that of the coarser level",
                     name);
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
  communicator.collective_try([&] {
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
