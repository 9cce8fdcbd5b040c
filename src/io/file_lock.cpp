#include "io/file_lock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "io/posix_file.hpp"

namespace octant {
namespace {

// Whether the open file still has this name: somebody may have renamed its folder meanwhile.
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
  const std::string line = ReadFile(path, 256).text();
  return line.empty() ? "an unknown process" : line.substr(0, line.find('\n'));
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  while (!try_to_take(path)) {
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

// Returns whether it is known who holds the lock of the file that has this name.
bool FileLock::try_to_take(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  folder_ = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) throw RunError("cannot open '{}': {}", folder, system_reason());
  const Attempt of_folder = try_lock(folder_, folder.empty() ? "." : folder);
  Attempt of_file = of_folder;
  if (of_folder == Attempt::taken || of_folder == Attempt::unsupported) {
    try {
      descriptor_ = open_own_file(path, Absent::is_created);
    } catch (...) {
      release();
      throw;
    }
    of_file = try_lock(descriptor_, path);
  }
  if (of_file == Attempt::refused) holder_ = holder_by(path);
  if (of_file == Attempt::refused || of_file == Attempt::moved) release();
  enforced_ = of_file == Attempt::taken || of_folder == Attempt::taken;
  return of_file != Attempt::moved;
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
