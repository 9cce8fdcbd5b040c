// A directory for the files of one test, shared by all ranks and removed afterwards.
#pragma once

#include <filesystem>
#include <string>

#include <unistd.h>

#include "comm/communicator.hpp"

namespace octant {

class Scratch {
 public:
  explicit Scratch(const Communicator& communicator) : communicator_(communicator) {
    directory_ = (std::filesystem::temp_directory_path() / "octant_io_").string() +
                 std::to_string(::getpid());
    communicator_.broadcast(directory_);
    if (communicator_.is_root()) std::filesystem::create_directories(directory_);
    communicator_.barrier();
  }
  ~Scratch() {
    communicator_.barrier();
    if (communicator_.is_root()) std::filesystem::remove_all(directory_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::size_t files() const {
    communicator_.barrier();
    const std::filesystem::directory_iterator entries(directory_);
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
  }

 private:
  Communicator communicator_;
  std::string directory_;
};

}  // namespace octant
