#include "io/whole_file.hpp"

#include <cstdio>
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

}  // namespace octant
