// An open file of the operating system, whose every failure is an exception that names the file and
// the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace octant {

// Owns one descriptor. All functions are local to the calling rank; several ranks may have the same
// file open. Every failure throws RunError.
class PosixFile {
 public:
  enum class Mode { create, read, update };

  // create: a new, empty file in place of what had the name. update: an existing file, for writing.
  // Both follow no links (core/own_files.hpp); read does.
  PosixFile(std::string path, Mode mode);
  ~PosixFile();
  PosixFile(PosixFile&& other) noexcept;
  PosixFile& operator=(PosixFile&&) = delete;

  // Writes all bytes at `offset`, beyond the present end as well.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);

  // Fills `bytes` from `offset` on. Fails if the file ends before.
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const;

  // Lets the system fetch bytes that will be read soon, in any order, while others work.
  void fetch_ahead(std::int64_t offset, std::int64_t bytes) const;

  // Cuts the file to this length, or extends it with zeros.
  void resize(std::int64_t bytes);

  // Returns when what was written is on the disk.
  void sync();

  std::int64_t size() const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace octant
