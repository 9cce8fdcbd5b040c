// Files that Octant writes, opened without following links. A new file is created exclusively, and
// an existing one is opened only if it is a regular file without further hard links, so that
// nothing outside of its folder is changed. All code in src/ that creates or writes files uses
// these functions (tests/style/check.py); docs/own_files.md lists that code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octant {

// Reason of a system error, and a remedy: "No space left on device (free space on the disk)".
std::string system_reason(int error);
// Reason of the failed system call that has set errno.
std::string system_reason();

// Creates an empty regular file and returns its descriptor, for reading and writing. An older file
// or link of this name is removed first; the target of a link is not changed. Throws RunError.
int create_own_file(const std::string& path);

// Behaviour if the file does not exist.
enum class Absent { fails, is_created };
// Position of writes.
enum class Position { anywhere, at_end };

// Opens a regular file for reading and writing, and returns its descriptor. `absent` specifies the
// behaviour for missing files; with Position::at_end all writes append. Throws RunError if the name
// is a link, if it is no regular file, or if the file has further names (hard links).
int open_own_file(const std::string& path, Absent absent = Absent::fails,
                  Position position = Position::anywhere);

// Creates the folder and its parents. Throws RunError on failure, or if the folder itself is a
// link.
void make_own_folder(const std::string& path);

// Returns when the entries of the directory that contains `path` are on disk. Throws RunError.
void sync_directory_of(const std::string& path);

// Replaces the content of a file atomically: writes the new content to `path`.part, waits until it
// is on disk, and renames it. Throws RunError.
void write_own_file(const std::string& path, std::string_view content);

// New file written sequentially. Functions throw RunError with the reason of the system error only.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path) : descriptor_(create_own_file(path)) {}
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // Appends bytes.
  void append(std::span<const std::byte> bytes);
  // Returns when the appended data is on disk.
  void sync();
  // Closes the file.
  void close();

 private:
  int descriptor_;
};

// Content of a small regular file at the time of reading.
class FileContent {
 public:
  // Reads up to `most` bytes without following a link. After a failure, is_read() is false and
  // reason() is the cause, or empty if the file does not exist.
  FileContent(const std::string& path, std::size_t most);

  // True if the file was read.
  bool is_read() const { return is_read_; }
  // Cause of a failure.
  const std::string& reason() const { return reason_; }
  // Content of the file.
  const std::string& text() const { return text_; }
  // Identifier that changes if the file is replaced or modified; reason() if there is no such file.
  const std::string& identity() const { return identity_; }
  // Removes the file if the name still refers to the file that was read.
  void remove() const;

 private:
  std::string path_, text_, reason_, identity_;
  bool is_read_ = false;
};

}  // namespace octant
