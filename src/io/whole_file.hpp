// A file, or a folder of files, that is whole or absent: it gets its name only when it is complete.
#pragma once

#include <string>

#include "comm/communicator.hpp"

namespace octant {

// Reserves the name `path` for a file that is written beside it, as `path` + ".part". An older file
// of that name stays until commit() replaces it in one step. Destroyed without commit(), the part
// is removed; a run that is killed leaves at most a part, which the next writer of that name
// replaces.
class WholeFile {
 public:
  // Collective. Creates the empty part. Throws RunError on every rank if that cannot be done.
  WholeFile(const Communicator& communicator, std::string path);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& part_path() const { return part_path_; }

  // Gives the part its name. Collective. What a rank wrote must be synchronised before (PosixFile::
  // sync), so that the name never comes to the disk ahead of the content. Throws RunError on every
  // rank if it cannot be done.
  void commit();

 private:
  Communicator communicator_;
  std::string path_;
  std::string part_path_;
  bool committed_ = false;
};

// The same for a folder, which anyone may fill: `path` + ".part" is made, with the folders above it
// and a mark in it, and gets its name with commit(), in place of an older one. Folders of these
// names without the mark are somebody else's: the constructor throws InputError on every rank. What
// was written must be synchronised before.
class WholeFolder {
 public:
  WholeFolder(const Communicator& communicator, std::string path);
  ~WholeFolder();
  WholeFolder(const WholeFolder&) = delete;
  WholeFolder& operator=(const WholeFolder&) = delete;

  const std::string& path() const { return path_; }
  const std::string& part_path() const { return part_path_; }
  void commit();

 private:
  Communicator communicator_;
  std::string path_;
  std::string part_path_;
  bool committed_ = false;
};

}  // namespace octant
