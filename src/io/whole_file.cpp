#include "io/whole_file.hpp"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <unistd.h>

#include "core/error.hpp"
#include "core/own_files.hpp"
#include "io/posix_file.hpp"

namespace octant {

WholeFile::WholeFile(const Communicator& communicator, std::string path)
    : WholePath(communicator, std::move(path)) {
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

namespace {

// Marks the folders that may be replaced: all others are somebody's.
constexpr const char* k_mark = "octant.txt";

void require_own(const std::string& folder) {
  if (std::filesystem::exists(folder) && !std::filesystem::exists(folder + "/" + k_mark))
    throw InputError(
        "'{}' exists and was not written by Octant (it has no {}); move it aside, or choose "
        "another output directory",
        folder, k_mark);
}

void write_mark(const std::string& folder) {
  write_own_file(folder + "/" + k_mark,
                 "Octant wrote this folder, and replaces it when it writes one of this name "
                 "again.\n");
}

std::string old_of(const std::string& folder) { return folder + ".old"; }

}  // namespace

WholeFolder::WholeFolder(const Communicator& communicator, std::string path)
    : WholePath(communicator, std::move(path)) {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    for (const std::string& folder : {path_, part_path_, old_of(path_)}) require_own(folder);
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
  communicator_.agree([&] {
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

}  // namespace octant
