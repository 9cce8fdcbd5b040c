// A file, or a folder of files, that is whole or absent: it gets its name only when it is complete.
#pragma once

#include <string>
#include <utility>

#include "comm/communicator.hpp"

namespace octant {

// What is written beside the name that it will have, as `path` + ".part".
class WholePath {
 public:
  WholePath(const WholePath&) = delete;
  WholePath& operator=(const WholePath&) = delete;

  const std::string& path() const { return path_; }
  const std::string& part_path() const { return part_path_; }

 protected:
  WholePath(const Communicator& communicator, std::string path)
      : communicator_(communicator), path_(std::move(path)), part_path_(path_ + ".part") {}
  ~WholePath() = default;

  Communicator communicator_;
  std::string path_, part_path_;
  bool committed_ = false;
};

// Reserves the name `path` for a file. An older one of that name stays until commit() replaces it
// in one step. Destroyed without commit(), the part is removed; a run that is killed leaves at most
// a part, which the next writer of that name replaces.
class WholeFile : public WholePath {
 public:
  // Collective. Creates the empty part. Throws RunError on every rank if that cannot be done.
  WholeFile(const Communicator& communicator, std::string path);
  ~WholeFile();

  // Gives the part its name. Collective. What a rank wrote must be synchronised before (PosixFile::
  // sync), so that the name never comes to the disk ahead of the content. Throws RunError on every
  // rank if it cannot be done.
  void commit();
};

// The same for a folder, which anyone may fill: the part is made, with the folders above it and a
// mark in it, and gets its name with commit(), in place of an older one. Folders of these names
// without the mark are somebody else's: the constructor throws InputError on every rank. What was
// written must be synchronised before.
class WholeFolder : public WholePath {
 public:
  WholeFolder(const Communicator& communicator, std::string path);
  ~WholeFolder();

  void commit();
};

}  // namespace octant
