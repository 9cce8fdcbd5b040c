#include "io/whole_file.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "core/error.hpp"
#include "io/posix_file.hpp"

namespace octant {

WholeFile::WholeFile(const Communicator& communicator, std::string path)
    : communicator_(communicator), path_(std::move(path)), part_path_(path_ + ".part") {
  communicator_.agree([&] {
    if (communicator_.is_root()) PosixFile(part_path_, PosixFile::Mode::create);
  });
}

WholeFile::~WholeFile() {
  if (!committed_ && communicator_.is_root()) ::unlink(part_path_.c_str());
}

void WholeFile::commit() {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    if (std::rename(part_path_.c_str(), path_.c_str()) != 0) {
      throw RunError("cannot rename '{}' to '{}': {}", part_path_, path_, system_reason());
    }
    sync_directory_of(path_);
  });
  committed_ = true;
}

WholeFolder::WholeFolder(const Communicator& communicator, std::string path)
    : communicator_(communicator), path_(std::move(path)), part_path_(path_ + ".part") {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    std::error_code error;
    std::filesystem::remove_all(part_path_, error);
    if (!error) std::filesystem::create_directories(part_path_, error);
    if (error) throw RunError("cannot make the folder '{}': {}", part_path_, error.message());
  });
}

WholeFolder::~WholeFolder() {
  std::error_code ignored;
  if (!committed_ && communicator_.is_root()) std::filesystem::remove_all(part_path_, ignored);
}

void WholeFolder::commit() {
  communicator_.barrier();
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    const std::string old = path_ + ".old";
    std::error_code error;
    sync_directory_of(part_path_ + "/file");
    std::filesystem::remove_all(old, error);
    if (std::filesystem::exists(path_)) std::filesystem::rename(path_, old, error);
    if (!error) std::filesystem::rename(part_path_, path_, error);
    if (error) throw RunError("cannot rename '{}' to '{}': {}", part_path_, path_, error.message());
    sync_directory_of(path_);
    std::filesystem::remove_all(old, error);
  });
  committed_ = true;
}

}  // namespace octant
