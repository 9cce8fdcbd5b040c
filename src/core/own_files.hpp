// Files that Octant writes, opened without following links. A new file is created exclusively, and
// an existing one is opened only if it is a regular file with a single name, so that nothing
// outside the folder that holds it is changed. All code in src/ that creates a file or opens one
// for writing does so here (tests/style/check.py); docs/own_files.md lists the places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octant {

// Why a call of the system failed, and what to do: "No space left on device (free space on the
// disk)". The second form is for the present errno.
std::string system_reason(int error);
std::string system_reason();

// Creates an empty regular file and returns its descriptor, for reading and writing. An older file
// or link of this name is removed first; the target of a link stays as it is. Throws RunError.
int create_own_file(const std::string& path);

enum class Absent { fails, is_created };
enum class Position { anywhere, at_end };

// Opens a regular file for reading and writing, and returns its descriptor. `absent` says what
// happens if there is no such file; with Position::at_end all writes append. Throws RunError if the
// name is a link, if it is no regular file, or if the file has further names (hard links).
int open_own_file(const std::string& path, Absent absent = Absent::fails,
                  Position position = Position::anywhere);

// Makes the folder and those above it. Throws RunError if that fails, or if the folder itself is a
// link.
void make_own_folder(const std::string& path);

// Returns when entries of the directory that holds `path` are on the disk. Throws RunError.
void sync_directory_of(const std::string& path);

// Gives a file this content: the content is written beside it, as `path`.part, which takes the name
// when it is on the disk. Throws RunError.
void write_own_file(const std::string& path, std::string_view content);

// A new file that is written from begin to end. Throws RunError, with the system's reason alone.
class AppendedFile {
 public:
  explicit AppendedFile(const std::string& path) : descriptor_(create_own_file(path)) {}
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  void append(std::span<const std::byte> bytes);
  // Returns when what was appended is on the disk.
  void sync();
  void close();

 private:
  int descriptor_;
};

// What a small regular file held when it was read.
class ReadFile {
 public:
  // Reads up to `most` bytes without following a link. Where that is impossible, is_read() is false
  // and reason() says why; it is empty if nothing has this name.
  ReadFile(const std::string& path, std::size_t most);

  bool is_read() const { return is_read_; }
  const std::string& reason() const { return reason_; }
  const std::string& text() const { return text_; }
  // Differs between two files, and between two states of a file.
  const std::string& identity() const { return identity_; }
  // Removes the name if it still stands for the file that was read.
  void remove() const;

 private:
  std::string path_, text_, reason_, identity_;
  bool is_read_ = false;
};

}  // namespace octant
