#include "io/grafic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/error.hpp"
#include "io/whole_file.hpp"

namespace octant {
namespace {

static_assert(std::endian::native == std::endian::little, "grafic files are read as they lie");
static_assert(sizeof(GraficHeader) == 44, "the header is read as it lies");

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
    throw InputError("{}: initial conditions are missing or may not be read", error.what());
  }
}

// The markers before and after a record whose bytes are given with them.
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
        "'{}' is big-endian, but grafic files must be little-endian: write it again on a "
        "little-endian machine, or swap the bytes of every number of four bytes",
        path);
  throw InputError(
      "'{}' is no grafic2 file: its first record must have {} bytes, but its markers say {} and {}",
      path, expected, markers[0], markers[1]);
}

void check_numbers(const std::string& path, const GraficHeader& header) {
  const auto [nx, ny, nz] = header.cells;
  if (std::min({nx, ny, nz}) < 1)
    throw InputError("'{}': invalid grid of {} x {} x {} cells", path, nx, ny, nz);
  // Markers cannot give the length of larger records.
  if (plane_bytes(header) > std::int64_t{INT32_MAX})
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
        "'{}' is truncated: {} x {} x {} cells take {} bytes, but it has {}, which hold {} of {} "
        "planes; copy or generate it again",
        path, nx, ny, nz, expected, bytes, (bytes - k_header_record) / plane_record(header), nz);
  if (bytes > expected)
    throw InputError("'{}' has {} bytes, but {} x {} x {} cells of four bytes take {}", path, bytes,
                     nx, ny, nz, expected);
}

GraficHeader read_header(const PosixFile& file) {
  const std::int64_t bytes = file.size();
  if (bytes < k_header_record)
    throw InputError("'{}' is truncated: it has {} bytes, not even a header of {}", file.path(),
                     bytes, k_header_record);
  std::array<std::byte, k_header_record> record;
  file.read_at(0, record);
  check_header_markers(file.path(), markers_of(record));
  GraficHeader header;
  std::memcpy(&header, record.data() + k_marker_bytes, sizeof(header));
  check_numbers(file.path(), header);
  check_length(file.path(), header, bytes);
  return header;
}

// The bytes between two markers, added to `records`.
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
          "'{}' is damaged: plane {} of {} has {} bytes, but the markers around it say {} and {}",
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
  communicator.agree([&] {
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

}  // namespace octant
