#include "io/files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"
#include "core/number_file.hpp"
#include "core/own_files.hpp"
#include "io/checksums.hpp"

namespace octant {
namespace {

constexpr std::size_t k_max_per_call = std::size_t{1} << 30;  // the system's limit is 2 GiB

int open_to_read(const std::string& path) {
  reject_special_file(path);
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

int open_file(const std::string& path, PosixFile::Mode mode) {
  switch (mode) {
    case PosixFile::Mode::create: return create_own_file(path);
    case PosixFile::Mode::update: return open_own_file(path);
    case PosixFile::Mode::read: return open_to_read(path);
  }
  return -1;
}

}  // namespace

PosixFile::PosixFile(std::string path, Mode mode)
    : path_(std::move(path)), descriptor_(open_file(path_, mode)) {
  if (descriptor_ < 0) throw RunError("cannot open '{}': {}", path_, system_reason());
}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

void PosixFile::write_at(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), k_max_per_call);
    const ssize_t written = ::pwrite(descriptor_, bytes.data(), count, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw RunError("cannot write {} bytes to '{}': {}", bytes.size(), path_, system_reason());
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

void PosixFile::read_at(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), k_max_per_call);
    const ssize_t read = ::pread(descriptor_, bytes.data(), count, offset);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) {
      throw RunError("cannot read {} bytes of '{}' at offset {}: {}", bytes.size(), path_, offset,
                     read == 0 ? "unexpected end of file" : system_reason());
    }
    bytes = bytes.subspan(static_cast<std::size_t>(read));
    offset += read;
  }
}

void PosixFile::fetch_ahead(std::int64_t offset, std::int64_t bytes) const {
  // Only a hint; errors do not matter.
  ::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED);
}

void PosixFile::resize(std::int64_t bytes) {
  if (::ftruncate(descriptor_, bytes) != 0) {
    throw RunError("cannot resize '{}' to {} bytes: {}", path_, bytes, system_reason());
  }
}

void PosixFile::sync() {
  if (::fsync(descriptor_) != 0) {
    throw RunError("cannot flush '{}' to disk: {}", path_, system_reason());
  }
}

std::int64_t PosixFile::size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) {
    throw RunError("cannot determine the size of '{}': {}", path_, system_reason());
  }
  return status.st_size;
}

std::string checksum_and_length(const std::string& path) {
  const PosixFile file(path, PosixFile::Mode::read);
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read_at(0, bytes);
  return fmt::format("{:08x}, {} bytes", crc32c(bytes), bytes.size());
}

WholeFile::WholeFile(const Communicator& communicator, std::string path)
    : WholePath(communicator, std::move(path)) {
  communicator_.collective_try([&] {
    if (communicator_.is_root()) PosixFile(part_path_, PosixFile::Mode::create);
  });
}

WholeFile::~WholeFile() {
  if (!committed_ && communicator_.is_root()) ::unlink(part_path_.c_str());
}

void WholeFile::commit() {
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    if (std::rename(part_path_.c_str(), path_.c_str()) != 0) {
      throw RunError("cannot rename '{}' to '{}': {}", part_path_, path_, system_reason());
    }
    sync_directory_of(path_);
  });
  committed_ = true;
}

namespace {

// Mark of folders that may be replaced; all others belong to the user.
constexpr const char* k_mark = "octant.txt";

void require_mark(const std::string& folder) {
  if (std::filesystem::exists(folder) && !std::filesystem::exists(folder + "/" + k_mark))
    throw InputError(
        "'{}' exists and was not written by Octant (it has no {}); move it aside, or choose "
        "another output directory",
        folder, k_mark);
}

void write_mark(const std::string& folder) {
  write_own_file(folder + "/" + k_mark,
                 "Octant created this directory, and replaces it when it writes a directory with "
                 "this name again.\n");
}

std::string old_of(const std::string& folder) { return folder + ".old"; }

}  // namespace

WholeFolder::WholeFolder(const Communicator& communicator, std::string path)
    : WholePath(communicator, std::move(path)) {
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    for (const std::string& folder : {path_, part_path_, old_of(path_)}) require_mark(folder);
    std::error_code error;
    std::filesystem::remove_all(part_path_, error);
    if (error) throw RunError("cannot remove '{}': {}", part_path_, system_reason(error.value()));
    make_own_folder(part_path_);
    write_mark(part_path_);
  });
}

WholeFolder::~WholeFolder() {
  std::error_code ignored;
  if (!committed_ && communicator_.is_root()) std::filesystem::remove_all(part_path_, ignored);
}

void WholeFolder::commit() {
  communicator_.barrier();
  communicator_.collective_try([&] {
    if (!communicator_.is_root()) return;
    const std::string old = old_of(path_);
    std::error_code error;
    sync_directory_of(part_path_ + "/file");
    std::filesystem::remove_all(old, error);
    if (std::filesystem::exists(path_)) std::filesystem::rename(path_, old, error);
    if (!error) std::filesystem::rename(part_path_, path_, error);
    if (error)
      throw RunError("cannot rename '{}' to '{}': {}", part_path_, path_,
                     system_reason(error.value()));
    sync_directory_of(path_);
    std::filesystem::remove_all(old, error);
  });
  committed_ = true;
}
namespace {

// Returns true if the open file still has this name: its folder may have been renamed meanwhile.
bool is_at(int descriptor, const std::string& path) {
  struct stat open_file, named_file;
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

enum class Attempt { taken, refused, unsupported, moved };

Attempt try_lock(int descriptor, const std::string& path) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
    return is_at(descriptor, path) ? Attempt::taken : Attempt::moved;
  return errno == EWOULDBLOCK ? Attempt::refused : Attempt::unsupported;
}

std::string holder_by(const std::string& path) {
  const std::string line = FileContent(path, 256).text();
  return line.empty() ? "an unknown process" : line.substr(0, line.find('\n'));
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  while (!try_acquire(path)) {
  }
  if (is_held()) sign(path);
}

FileLock::~FileLock() { release(); }

void FileLock::release() {
  for (int* descriptor : {&descriptor_, &folder_})
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
}

FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      folder_(std::exchange(other.folder_, -1)),
      enforced_(other.enforced_),
      holder_(std::move(other.holder_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(folder_, other.folder_);
  std::swap(enforced_, other.enforced_);
  std::swap(holder_, other.holder_);
  return *this;
}

// Tries once; returns true if the lock is taken or its holder is known.
bool FileLock::try_acquire(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw RunError("cannot open '{}': {}", folder, system_reason());
  const Attempt folder_lock = try_lock(folder_, folder.empty() ? "." : folder);
  Attempt file_lock = folder_lock;
  if (folder_lock == Attempt::taken || folder_lock == Attempt::unsupported) {
    try {
      descriptor_ = open_own_file(path, Absent::is_created);
    } catch (...) {
      release();
      throw;
    }
    file_lock = try_lock(descriptor_, path);
  }
  if (file_lock == Attempt::refused) holder_ = holder_by(path);
  if (file_lock == Attempt::refused || file_lock == Attempt::moved) release();
  enforced_ = file_lock == Attempt::taken || folder_lock == Attempt::taken;
  return file_lock != Attempt::moved;
}

void FileLock::sign(const std::string& path) const {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string text = fmt::format(
      "process {} on {} since {:%Y-%m-%d %H:%M:%S}\n", ::getpid(), host.data(),
      fmt::localtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
  const auto length = static_cast<ssize_t>(text.size());
  if (::ftruncate(descriptor_, 0) != 0 ||
      ::pwrite(descriptor_, text.data(), text.size(), 0) != length)
    throw RunError("cannot write '{}': {}", path, system_reason());
}

}  // namespace octant
