#include "io/fortran_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.hpp"

namespace octant {

namespace {

static_assert(std::endian::native == std::endian::little, "records are read as they lie");

constexpr std::int64_t k_length_bytes = sizeof(std::int32_t);

PosixFile open_records(const std::string& path) {
  try {
    return PosixFile(path, PosixFile::Mode::read);
  } catch (const RunError& error) {
    throw InputError("{}", error.what());
  }
}

template <class From, class To>
std::vector<To> converted(const std::vector<std::byte>& bytes) {
  std::vector<From> from(bytes.size() / sizeof(From));
  std::memcpy(from.data(), bytes.data(), bytes.size());
  return {from.begin(), from.end()};
}

}  // namespace

FortranFile::FortranFile(const std::string& path, RecordPlace place)
    : file_(open_records(path)), place_(place), bytes_(file_.size()) {
  if (place.offset > 0 || bytes_ < k_length_bytes) return;
  const auto first = static_cast<std::uint32_t>(marker_at(0, "the first record"));
  const std::uint32_t swapped =
      (first >> 24) | ((first >> 8) & 0xFF00) | ((first << 8) & 0xFF0000) | (first << 24);
  if (std::int64_t{first} > bytes_ && std::int64_t{swapped} < bytes_)
    throw InputError(
        "'{}' is big-endian: its first record would have {} bytes; write it again on a "
        "little-endian machine, or swap the bytes of its numbers",
        path, first);
}

void FortranFile::refuse(const char* what, const std::string& reason) const {
  throw InputError("'{}': record {} ({}): {}", path(), place_.records, what, reason);
}

std::int32_t FortranFile::marker_at(std::int64_t offset, const char* what) const {
  if (offset + k_length_bytes > bytes_)
    throw InputError(
        "'{}': record {} ({}) begins or ends at byte {}, but the file has {}: it is "
        "truncated",
        path(), place_.records + 1, what, offset, bytes_);
  std::int32_t marker = 0;
  file_.read_at(offset, std::as_writable_bytes(std::span(&marker, 1)));
  return marker;
}

std::vector<FortranFile::Part> FortranFile::parts_of_next(const char* what) {
  std::vector<Part> parts;
  std::int64_t offset = place_.offset;
  for (bool more = true; more;) {
    const std::int32_t before = marker_at(offset, what);
    const std::int64_t length = std::abs(std::int64_t{before});
    const std::int32_t after = marker_at(offset + k_length_bytes + length, what);
    if (std::abs(std::int64_t{after}) != length)
      throw InputError(
          "'{}': record {} ({}) has {} bytes by the marker before it, and {} by the one after it: "
          "the file is damaged",
          path(), place_.records + 1, what, length, std::abs(std::int64_t{after}));
    parts.push_back({offset + k_length_bytes, length});
    offset += length + 2 * k_length_bytes;
    more = before < 0;
  }
  place_ = {offset, place_.records + 1};
  return parts;
}

std::vector<std::byte> FortranFile::next(const char* what) {
  std::vector<std::byte> bytes;
  for (const Part& part : parts_of_next(what)) {
    const std::size_t before = bytes.size();
    bytes.resize(before + static_cast<std::size_t>(part.bytes));
    file_.read_at(part.offset, std::span(bytes).subspan(before));
  }
  return bytes;
}

void FortranFile::skip(const char* what, int records) {
  for (int n = 0; n < records; ++n) parts_of_next(what);
}

// A record of `count` numbers; `width` becomes the bytes of one.
std::vector<std::byte> FortranFile::numbers(const char* what, std::int64_t count,
                                            std::int64_t& width) {
  std::vector<std::byte> bytes = next(what);
  const std::int64_t size = std::ssize(bytes);
  width = count > 0 && size == 8 * count ? 8 : 4;
  if (size != width * count)
    refuse(what, fmt::format("{} numbers of 4 or 8 bytes are expected, and {} bytes are there",
                             count, size));
  return bytes;
}

std::vector<double> FortranFile::reals(const char* what, std::int64_t count) {
  std::int64_t width = 0;
  const std::vector<std::byte> bytes = numbers(what, count, width);
  return width == 8 ? converted<double, double>(bytes) : converted<float, double>(bytes);
}

std::vector<std::int64_t> FortranFile::integers(const char* what, std::int64_t count) {
  std::int64_t width = 0;
  const std::vector<std::byte> bytes = numbers(what, count, width);
  return width == 8 ? converted<std::int64_t, std::int64_t>(bytes)
                    : converted<std::int32_t, std::int64_t>(bytes);
}

std::vector<std::int8_t> FortranFile::bytes(const char* what, std::int64_t count) {
  const std::vector<std::byte> bytes = next(what);
  if (std::ssize(bytes) != count)
    refuse(what, fmt::format("{} bytes are expected, and {} are there", count, bytes.size()));
  return converted<std::int8_t, std::int8_t>(bytes);
}

std::string FortranFile::text(const char* what) {
  const std::vector<std::byte> bytes = next(what);
  std::string text(bytes.size(), ' ');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

FortranWriter::FortranWriter(const std::string& path) : file_(path, PosixFile::Mode::create) {}

std::int64_t FortranWriter::length_of(std::size_t bytes) {
  return static_cast<std::int64_t>(bytes) + 2 * k_length_bytes;
}

std::int64_t FortranWriter::reserve(std::size_t bytes, std::int64_t count) {
  const std::int64_t place = end_;
  end_ += count * length_of(bytes);
  return place;
}

void FortranWriter::record_at(std::int64_t place, std::span<const std::byte> bytes) {
  if (bytes.size() > std::numeric_limits<std::int32_t>::max())
    throw RunError("'{}': a record of {} bytes is longer than 2 GiB: write more, smaller files",
                   file_.path(), bytes.size());
  const auto length = static_cast<std::int32_t>(bytes.size());
  buffer_.resize(static_cast<std::size_t>(length_of(bytes.size())));
  std::memcpy(buffer_.data(), &length, k_length_bytes);
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + k_length_bytes);
  std::memcpy(buffer_.data() + k_length_bytes + bytes.size(), &length, k_length_bytes);
  file_.write_at(place, buffer_);
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
