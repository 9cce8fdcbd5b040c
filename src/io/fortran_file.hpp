// Fortran sequential unformatted files: records between two four-byte markers with their length.
//
// A record of 2 GiB or more is written in several parts, of which all but the last have a negative
// first marker, and all but the first a negative second one (gfortran's manual, "File format of
// unformatted sequential files").
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "io/files.hpp"

namespace octant {

// Position in a file: the byte at which the next record begins, and the number of records before.
struct RecordPosition {
  std::int64_t offset = 0, records = 0;
};

// Sequential reader of records. Failures throw InputError with the file, the number of the record
// (from 1), its expected and its actual content. Local.
class FortranFile {
 public:
  // Opens a file for reading from `position`. Throws InputError if it cannot be read, or is
  // big-endian.
  explicit FortranFile(const std::string& path, RecordPosition position = {});

  // Reads the next record, which must contain `count` reals of four or eight bytes. In this and the
  // following functions, `what` names the record in messages.
  std::vector<double> reals(const char* what, std::int64_t count);
  // Reads the next record, which must contain `count` integers of four or eight bytes.
  std::vector<std::int64_t> integers(const char* what, std::int64_t count);
  // Reads the next record, which must contain `count` bytes.
  std::vector<std::int8_t> bytes(const char* what, std::int64_t count);
  // Reads some reals of the next record of `count` reals, from number `first` on.
  void reals(const char* what, std::int64_t count, std::int64_t first, std::span<double> to);
  // Reads some integers of the next record of `count` integers, from number `first` on.
  void integers(const char* what, std::int64_t count, std::int64_t first,
                std::span<std::int64_t> to);
  // Reads the next record, which must contain one real.
  double real(const char* what) { return reals(what, 1)[0]; }
  // Reads the next record, which must contain one integer.
  std::int64_t integer(const char* what) { return integers(what, 1)[0]; }
  std::string text(const char* what);  // Reads the next record as text, without trailing blanks.

  // Skips records.
  void skip(const char* what, int records = 1);
  // Length of the next record in bytes, which is not read.
  std::int64_t bytes_of_next(const char* what);

  // Starts fetching everything up to a position.
  void fetch_ahead(RecordPosition end) const {
    file_.fetch_ahead(position_.offset, end.offset - position_.offset);
  }

  // Position of the next record.
  RecordPosition position() const { return position_; }
  // True if all records were read.
  bool at_end() const { return position_.offset == bytes_; }
  // Throws InputError unless the last record read is the last one of the file.
  void require_end() const {
    if (!at_end()) refuse("the last record", "expected the end of the file after this record");
  }
  // Name of the file.
  const std::string& path() const { return file_.path(); }

  // Throws InputError about the last record read.
  [[noreturn]] void refuse(const char* what, const std::string& reason) const;

 private:
  struct Part {
    std::int64_t offset, bytes;
  };
  std::vector<Part> parts_of_next(const char* what);
  template <class T>
  std::vector<T> values(const std::vector<Part>& parts) const;
  template <class Narrow, class T>
  void numbers(const std::vector<Part>& parts, std::int64_t width, std::int64_t first,
               std::span<T> to) const;
  void read(const std::vector<Part>& parts, std::int64_t skipped, std::span<std::byte> to) const;
  std::int64_t width_of(const char* what, const std::vector<Part>& parts, std::int64_t count) const;
  std::int32_t marker_at(std::int64_t offset, const char* what) const;

  PosixFile file_;
  RecordPosition position_;
  std::int64_t bytes_;
};

// Writer of records. Failures, and records of 2 GiB or more, throw RunError with the file name.
// Local.
class FortranWriter {
 public:
  // Creates an empty file.
  explicit FortranWriter(const std::string& path);

  // Writes the next record.
  template <class T>
  void record(std::span<const T> values) {
    record_at(reserve(values.size_bytes()), std::as_bytes(values));
  }
  // Writes a vector as the next record.
  template <class T>
  void record(const std::vector<T>& values) {
    record(std::span<const T>(values));
  }
  // Writes 32-bit integers as the next record.
  void integers(std::initializer_list<std::int32_t> values) {
    record(std::span(values.begin(), values.size()));
  }
  // Writes doubles as the next record.
  void reals(std::initializer_list<double> values) {
    record(std::span(values.begin(), values.size()));
  }
  void text(const std::string& text, std::size_t width);  // padded with blanks

  // Reserves space for `count` records of `bytes` each, to be written later in any order, and
  // returns the position of the first one.
  std::int64_t reserve(std::size_t bytes, std::int64_t count = 1);
  // Length of a record with its markers.
  static std::int64_t length_of(std::size_t bytes);
  // Writes a reserved record at its position.
  void record_at(std::int64_t offset, std::span<const std::byte> bytes);

  // Returns when everything is on disk.
  void finish();

 private:
  PosixFile file_;
  std::int64_t end_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace octant
