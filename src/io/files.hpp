// Operating-system files: open files, atomically created files, and locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "comm/communicator.hpp"

namespace octant {

// Open file. Owns one descriptor. All functions are local to the calling rank; several ranks may
// have the same file open. Every failure throws RunError with the file name and the system's
// reason.
class PosixFile {
 public:
  // Mode of access to a file.
  enum class Mode { create, read, update };

  // create: replaces a file by a new, empty one. update: opens an existing file for writing. Both
  // do not follow links (core/own_files.hpp); read does.
  PosixFile(std::string path, Mode mode);
  ~PosixFile();
  PosixFile(PosixFile&& other) noexcept;
  PosixFile& operator=(PosixFile&&) = delete;

  // Writes all bytes at `offset`, which may lie beyond the present end.
  void write_at(std::int64_t offset, std::span<const std::byte> bytes);

  // Fills `bytes` from `offset` on. Throws if the file ends before.
  void read_at(std::int64_t offset, std::span<std::byte> bytes) const;

  // Starts fetching bytes that will be read soon, in any order.
  void fetch_ahead(std::int64_t offset, std::int64_t bytes) const;

  // Truncates the file to this length, or extends it with zeros.
  void resize(std::int64_t bytes);

  // Returns when the written data is on disk.
  void sync();

  // Length of the file in bytes.
  std::int64_t size() const;
  // Name of the file.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

// Returns the CRC-32C of the bytes of a file and their number: "1a2b3c4d, 2048 bytes". Throws
// RunError if the file cannot be read. Local.
std::string checksum_and_length(const std::string& path);

// File or folder that is created atomically: it is written under the temporary name `path` +
// ".part" and renamed when complete.
class WholePath {
 public:
  WholePath(const WholePath&) = delete;
  WholePath& operator=(const WholePath&) = delete;

  // Final path.
  const std::string& path() const { return path_; }
  // Path during writing.
  const std::string& part_path() const { return part_path_; }

 protected:
  WholePath(const Communicator& communicator, std::string path)
      : communicator_(communicator), path_(std::move(path)), part_path_(path_ + ".part") {}
  ~WholePath() = default;

  Communicator communicator_;
  std::string path_, part_path_;
  bool committed_ = false;
};

// Atomic replacement of the file `path`: an older file of that name stays until commit() replaces
// it. The destructor removes the part if there was no commit(). A killed run leaves at most a part,
// which the next writer of that name replaces.
class WholeFile : public WholePath {
 public:
  // Creates the empty part. Throws RunError on every rank on failure. Collective.
  WholeFile(const Communicator& communicator, std::string path);
  ~WholeFile();

  // Renames the part. Data must be synchronised before (PosixFile::sync), so that the name does not
  // reach the disk before the content. Throws RunError on every rank on failure. Collective.
  void commit();
};

// Atomic creation of a folder, which any code may fill. The part is created with its parent folders
// and a mark, and commit() renames it, replacing an older one. Folders of these names without the
// mark belong to the user: the constructor throws InputError on every rank. Data must be
// synchronised before.
class WholeFolder : public WholePath {
 public:
  WholeFolder(const Communicator& communicator, std::string path);
  ~WholeFolder();

  // Renames the part, replacing an older folder. Throws RunError on every rank on failure.
  // Collective.
  void commit();
};

// Lock on a file and on its folder, which the system releases when the process ends in any way.
// Advisory, and exclusive between and within processes; on shared file systems as far as they
// support locks between machines. The file records the holder, and remains after the release. The
// lock on the folder is effective if the file was removed manually. The file must not be a link.
class FileLock {
 public:
  // Tries to take the lock; creates the file if necessary. Throws RunError on failures other than
  // another holder.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;

  // True if this object holds the lock.
  bool is_held() const { return descriptor_ >= 0; }
  // Process that holds the lock, if it is another one, as "process 4711 on HOST since DATE".
  const std::string& holder() const { return holder_; }
  // Returns false if the file system does not support locks; every process then succeeds.
  bool is_enforced() const { return enforced_; }

 private:
  bool try_acquire(const std::string& path);
  void sign(const std::string& path) const;
  void release();

  int descriptor_ = -1, folder_ = -1;  // -1: not open
  bool enforced_ = true;
  std::string holder_;
};

}  // namespace octant
