#include "io/posix_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"
#include "core/own_files.hpp"

namespace octant {
namespace {

constexpr std::size_t k_most_per_call = std::size_t{1} << 30;  // the system's own limit is 2 GiB

int open_file(const std::string& path, PosixFile::Mode mode) {
  switch (mode) {
    case PosixFile::Mode::create: return create_own_file(path);
    case PosixFile::Mode::update: return open_own_file(path);
    case PosixFile::Mode::read: return ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
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
    const std::size_t count = std::min(bytes.size(), k_most_per_call);
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
    const std::size_t count = std::min(bytes.size(), k_most_per_call);
    const ssize_t read = ::pread(descriptor_, bytes.data(), count, offset);
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) {
      throw RunError("cannot read {} bytes of '{}' from byte {} on: {}", bytes.size(), path_,
                     offset, read == 0 ? "the file ends there" : system_reason());
    }
    bytes = bytes.subspan(static_cast<std::size_t>(read));
    offset += read;
  }
}

void PosixFile::fetch_ahead(std::int64_t offset, std::int64_t bytes) const {
  // It is advice alone: a system that does not take it reads no less.
  ::posix_fadvise(descriptor_, offset, bytes, POSIX_FADV_WILLNEED);
}

void PosixFile::resize(std::int64_t bytes) {
  if (::ftruncate(descriptor_, bytes) != 0) {
    throw RunError("cannot give '{}' a length of {} bytes: {}", path_, bytes, system_reason());
  }
}

void PosixFile::sync() {
  if (::fsync(descriptor_) != 0) {
    throw RunError("cannot flush '{}' to the disk: {}", path_, system_reason());
  }
}

std::int64_t PosixFile::size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) {
    throw RunError("cannot determine the size of '{}': {}", path_, system_reason());
  }
  return status.st_size;
}

}  // namespace octant
