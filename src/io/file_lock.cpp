#include "io/file_lock.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"
#include "io/posix_file.hpp"

namespace octant {
namespace {

std::string contents(int descriptor) {
  std::array<char, 256> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size(), 0);
  std::string line(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  line.erase(std::min(line.find('\n'), line.size()));
  return line.empty() ? "an unknown process" : line;
}

// Whether the open file still has this name: somebody may have renamed its folder meanwhile.
bool is_at(int descriptor, const std::string& path) {
  struct stat open_file, named_file;
  return ::fstat(descriptor, &open_file) == 0 && ::stat(path.c_str(), &named_file) == 0 &&
         open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  while (!try_to_take(path)) {
  }
  if (is_held()) sign(path);
}

FileLock::~FileLock() {
  if (is_held()) ::close(descriptor_);
}

FileLock::FileLock(FileLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      enforced_(other.enforced_),
      holder_(std::move(other.holder_)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(enforced_, other.enforced_);
  std::swap(holder_, other.holder_);
  return *this;
}

// Returns whether it is known who holds the lock of the file that has this name.
bool FileLock::try_to_take(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) throw RunError("cannot open '{}': {}", path, system_reason());
  const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool refused = !taken && errno == EWOULDBLOCK;
  if (taken && !is_at(descriptor, path)) {
    ::close(descriptor);
    return false;
  }
  if (refused) {
    holder_ = contents(descriptor);
    ::close(descriptor);
    return true;
  }
  enforced_ = taken;
  descriptor_ = descriptor;
  return true;
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
