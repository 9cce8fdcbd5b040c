#include "io/fortran_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.hpp"

namespace octant {

namespace {

static_assert(std::endian::native == std::endian::little, "records are read without byte swapping");

constexpr std::int64_t k_length_bytes = sizeof(std::int32_t);

PosixFile open_records(const std::string& path) {
  try {
    return PosixFile(path, PosixFile::Mode::read);
  } catch (const RunError& error) {
    throw InputError("{}", error.what());
  }
}

template <class Parts>
std::int64_t bytes_of(const Parts& parts) {
  std::int64_t bytes = 0;
  for (const auto& part : parts) bytes += part.bytes;
  return bytes;
}

}  // namespace

FortranFile::FortranFile(const std::string& path, RecordPosition position)
    : file_(open_records(path)), position_(position), bytes_(file_.size()) {
  if (position.offset > 0 || bytes_ < k_length_bytes) return;
  const auto first = static_cast<std::uint32_t>(marker_at(0, "the first record"));
  const std::uint32_t swapped =
      (first >> 24) | ((first >> 8) & 0xFF00) | ((first << 8) & 0xFF0000) | (first << 24);
  if (std::int64_t{first} > bytes_ && std::int64_t{swapped} < bytes_)
    throw InputError(
        "'{}' is big-endian: read as little-endian, its first record has {} bytes; write it on a "
        "little-endian machine, or convert its byte order",
        path, first);
}

void FortranFile::refuse(const char* what, const std::string& reason) const {
  throw InputError("'{}': record {} ({}): {}", path(), position_.records, what, reason);
}

std::int32_t FortranFile::marker_at(std::int64_t offset, const char* what) const {
  if (offset + k_length_bytes > bytes_)
    throw InputError(
        "'{}': record {} ({}) begins or ends at byte {}, but the file has only {} bytes: it is "
        "truncated",
        path(), position_.records + 1, what, offset, bytes_);
  std::int32_t marker = 0;
  file_.read_at(offset, std::as_writable_bytes(std::span(&marker, 1)));
  return marker;
}

std::vector<FortranFile::Part> FortranFile::parts_of_next(const char* what) {
  std::vector<Part> parts;
  std::int64_t offset = position_.offset;
  for (bool more = true; more;) {
    const std::int32_t before = marker_at(offset, what);
    const std::int64_t length = std::abs(std::int64_t{before});
    const std::int32_t after = marker_at(offset + k_length_bytes + length, what);
    if (std::abs(std::int64_t{after}) != length)
      throw InputError(
          "'{}': record {} ({}) has {} bytes according to its leading marker but {} according to "
          "its trailing marker: the file is corrupt",
          path(), position_.records + 1, what, length, std::abs(std::int64_t{after}));
    parts.push_back({offset + k_length_bytes, length});
    offset += length + 2 * k_length_bytes;
    more = before < 0;
  }
  position_ = {offset, position_.records + 1};
  return parts;
}

// Fills `to` with the bytes after the first `skipped` ones.
void FortranFile::read(const std::vector<Part>& parts, std::int64_t skipped,
                       std::span<std::byte> to) const {
  for (const Part& part : parts) {
    const std::int64_t passed = std::min(skipped, part.bytes);
    const auto bytes = std::min(part.bytes - passed, std::ssize(to));
    skipped -= passed;
    if (bytes == 0) continue;
    file_.read_at(part.offset + passed, to.first(static_cast<std::size_t>(bytes)));
    to = to.subspan(static_cast<std::size_t>(bytes));
  }
}

template <class T>
std::vector<T> FortranFile::values(const std::vector<Part>& parts) const {
  std::vector<T> values(static_cast<std::size_t>(bytes_of(parts)) / sizeof(T));
  read(parts, 0, std::as_writable_bytes(std::span(values)));
  return values;
}

// Reads numbers of `width` bytes, that of T or of Narrow.
template <class Narrow, class T>
void FortranFile::numbers(const std::vector<Part>& parts, std::int64_t width, std::int64_t first,
                          std::span<T> to) const {
  if (width == sizeof(T)) return read(parts, first * width, std::as_writable_bytes(to));
  std::vector<Narrow> narrow(to.size());
  read(parts, first * width, std::as_writable_bytes(std::span(narrow)));
  std::ranges::copy(narrow, to.begin());
}

void FortranFile::skip(const char* what, int records) {
  for (int n = 0; n < records; ++n) parts_of_next(what);
}

std::int64_t FortranFile::bytes_of_next(const char* what) {
  const RecordPosition position = position_;
  const std::int64_t bytes = bytes_of(parts_of_next(what));
  position_ = position;
  return bytes;
}

// Returns the bytes per number of a record that must hold `count` numbers.
std::int64_t FortranFile::width_of(const char* what, const std::vector<Part>& parts,
                                   std::int64_t count) const {
  const std::int64_t size = bytes_of(parts), width = count > 0 && size / count == 8 ? 8 : 4;
  if (count < 0 || size % width != 0 || size / width != count)
    refuse(what, fmt::format("expected {} numbers of 4 or 8 bytes, found {} bytes", count, size));
  return width;
}

void FortranFile::reals(const char* what, std::int64_t count, std::int64_t first,
                        std::span<double> to) {
  const auto parts = parts_of_next(what);
  numbers<float>(parts, width_of(what, parts, count), first, to);
}

void FortranFile::integers(const char* what, std::int64_t count, std::int64_t first,
                           std::span<std::int64_t> to) {
  const auto parts = parts_of_next(what);
  numbers<std::int32_t>(parts, width_of(what, parts, count), first, to);
}

std::vector<double> FortranFile::reals(const char* what, std::int64_t count) {
  const auto parts = parts_of_next(what);
  const std::int64_t width = width_of(what, parts, count);
  std::vector<double> values(static_cast<std::size_t>(count));
  numbers<float>(parts, width, 0, std::span(values));
  return values;
}

std::vector<std::int64_t> FortranFile::integers(const char* what, std::int64_t count) {
  const auto parts = parts_of_next(what);
  const std::int64_t width = width_of(what, parts, count);
  std::vector<std::int64_t> values(static_cast<std::size_t>(count));
  numbers<std::int32_t>(parts, width, 0, std::span(values));
  return values;
}

std::vector<std::int8_t> FortranFile::bytes(const char* what, std::int64_t count) {
  const auto parts = parts_of_next(what);
  if (bytes_of(parts) != count)
    refuse(what, fmt::format("expected {} bytes, found {}", count, bytes_of(parts)));
  return values<std::int8_t>(parts);
}

std::string FortranFile::text(const char* what) {
  const auto bytes = values<char>(parts_of_next(what));
  const std::string text(bytes.begin(), bytes.end());
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

FortranWriter::FortranWriter(const std::string& path) : file_(path, PosixFile::Mode::create) {}

std::int64_t FortranWriter::length_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes) + 2 * k_length_bytes;
}

std::int64_t FortranWriter::reserve(std::size_t bytes, std::int64_t count) {
  const std::int64_t offset = end_;
  end_ += count * length_of(bytes);
  return offset;
}

void FortranWriter::record_at(std::int64_t offset, std::span<const std::byte> bytes) {
  if (bytes.size() > std::numeric_limits<std::int32_t>::max())
    throw RunError(
        "'{}': a record of {} bytes exceeds 2 GiB: write a larger number of smaller files",
        file_.path(), bytes.size());
  const auto length = static_cast<std::int32_t>(bytes.size());
  buffer_.resize(static_cast<std::size_t>(length_of(bytes.size())));
  std::memcpy(buffer_.data(), &length, k_length_bytes);
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + k_length_bytes);
  std::memcpy(buffer_.data() + k_length_bytes + bytes.size(), &length, k_length_bytes);
  file_.write_at(offset, buffer_);
}

void FortranWriter::text(const std::string& text, std::size_t width) {
  std::string padded = text;
  padded.resize(width, ' ');
  record(std::span<const char>(padded));
}

void FortranWriter::finish() {
  if (file_.size() < end_) file_.resize(end_);
  file_.sync();
}

}  // namespace octant
