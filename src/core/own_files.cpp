#include "core/own_files.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/error.hpp"

namespace octant {

namespace {

constexpr int k_flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;

// Remedy for a system error that the user can apply, or "".
const char* remedy(int error) {
  switch (error) {
    case ENOSPC: return "free space on the disk";
    case EDQUOT: return "free space, or ask for a larger quota";
    case EFBIG: return "raise the limit of file lengths, ulimit -f";
    case EMFILE:
    case ENFILE: return "raise the limit of open files, ulimit -n";
    case EACCES:
    case EPERM: return "check the permissions";
    case EROFS: return "check how the disk is mounted";
    case EIO:
    case ESTALE: return "check the disk and the connection to it";
    default: return "";
  }
}

std::string identity_of(const struct stat& status) {
  return fmt::format("{} {} {} {}.{:09}", status.st_dev, status.st_ino, status.st_size,
                     status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

// Reason why a file may not be changed: it is not regular or has further names; "" if none.
std::string fault_of(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return system_reason();
  if (!S_ISREG(status.st_mode)) return "this is not a regular file; remove it";
  if (status.st_nlink > 1)
    return fmt::format("the file has {} names (hard links); replace it with a copy",
                       status.st_nlink);
  return "";
}

}  // namespace

std::string system_reason(int error) {
  const std::string_view advice = remedy(error);
  return advice.empty() ? std::strerror(error)
                        : fmt::format("{} ({})", std::strerror(error), advice);
}

std::string system_reason() { return system_reason(errno); }

int create_own_file(const std::string& path) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) break;
    const int descriptor = ::open(path.c_str(), k_flags | O_CREAT | O_EXCL, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) break;
  }
  throw RunError("cannot create '{}': {}", path, system_reason());
}

int open_own_file(const std::string& path, Absent absent, Position position) {
  const int flags = k_flags | O_NONBLOCK | (absent == Absent::is_created ? O_CREAT : 0) |
                    (position == Position::at_end ? O_APPEND : 0);
  const int descriptor = ::open(path.c_str(), flags, 0666);
  if (descriptor < 0)
    throw RunError("cannot open '{}': {}", path,
                   errno == ELOOP ? "this is a symbolic link; remove the link" : system_reason());
  if (const std::string fault = fault_of(descriptor); !fault.empty()) {
    ::close(descriptor);
    throw RunError("cannot open '{}': {}", path, fault);
  }
  return descriptor;
}

void make_own_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)))
    throw RunError(
        "cannot write to '{}': it is a symbolic link; remove the link, or replace it with a "
        "directory",
        path);
  fs::create_directories(path, error);
  if (error)
    throw RunError("cannot create the directory '{}': {}", path, system_reason(error.value()));
}

// Ignores EINVAL from file systems that neither support nor need this.
void sync_directory_of(const std::string& path) {
  const auto directory = std::filesystem::absolute(path).parent_path();
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool failed = descriptor < 0 || (::fsync(descriptor) != 0 && errno != EINVAL);
  const std::string reason = failed ? system_reason() : "";
  if (descriptor >= 0) ::close(descriptor);
  if (failed)
    throw RunError("cannot flush the directory '{}' to disk: {}", directory.string(), reason);
}

void write_own_file(const std::string& path, std::string_view content) {
  const std::string part = path + ".part";
  try {
    AppendedFile file(part);
    file.append(std::as_bytes(std::span(content.data(), content.size())));
    file.sync();
    file.close();
    if (std::rename(part.c_str(), path.c_str()) != 0) throw RunError("{}", system_reason());
    sync_directory_of(path);
  } catch (const RunError& error) {
    ::unlink(part.c_str());
    throw RunError("cannot write '{}': {}", path, error.what());
  }
}

AppendedFile::~AppendedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendedFile::append(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw RunError("{}", system_reason());
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AppendedFile::sync() {
  if (::fsync(descriptor_) != 0) throw RunError("{}", system_reason());
}

void AppendedFile::close() {
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) throw RunError("{}", system_reason());
}

FileContent::FileContent(const std::string& path, std::size_t most) : path_(path) {
  const int descriptor =
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) {
    if (errno == ENOENT) return;
    reason_ = errno == ELOOP ? "this is a symbolic link" : system_reason();
    identity_ = reason_;
    return;
  }
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    reason_ = "this is not a regular file";
  } else {
    identity_ = identity_of(status);
    text_.resize(most + 1);
    const ssize_t length = ::pread(descriptor, text_.data(), text_.size(), 0);
    text_.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
    if (length < 0) reason_ = system_reason();
    if (text_.size() > most) reason_ = fmt::format("the file has more than {} bytes", most);
  }
  ::close(descriptor);
  is_read_ = reason_.empty();
  if (identity_.empty()) identity_ = reason_;
}

void FileContent::remove() const {
  struct stat status;
  if (is_read_ && ::lstat(path_.c_str(), &status) == 0 && identity_of(status) == identity_)
    ::unlink(path_.c_str());
}

}  // namespace octant
