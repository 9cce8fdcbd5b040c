// The directory of a run: one run writes there at a time, and none replaces another by accident.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "io/file_lock.hpp"

namespace octant::driver {

// What a run wants with the directory.
enum class Entry {
  begin,    // it must not hold a run
  replace,  // a run that is there gives way, whole, to one that has come to stand
  go_on     // a run that is there is continued
};

// Claims a directory for as long as it lives. All functions are collective, but path().
class RunFolder {
 public:
  // Makes the directory if need be, and leaves what is in it untouched. Throws InputError if it
  // cannot be written, if another process writes a run there, or if it holds a run that must not be
  // touched.
  RunFolder(const Communicator& communicator, const std::string& directory, Entry entry);
  // Removes the folder beside, where settle() was not called: nothing has come of that run.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Where the run writes: the directory, or a fresh folder beside it as long as an old run has the
  // directory.
  const std::string& path() const { return path_; }
  bool is_beside() const { return beside_; }

  // Moves the old run aside as a whole, to DIRECTORY.old-N, and the folder beside to its place.
  // Whoever has files open in either may go on. Throws RunError.
  void settle();

  // Moves snapshots and cut-outs from these numbers on to a folder of their own, superseded-N: a
  // run goes on from before them, and writes them anew.
  void supersede_snapshots(std::int64_t first, std::int64_t first_cutout);

 private:
  void claim(const std::string& directory, Entry entry);
  void open_beside(const std::string& directory);
  void exchange();

  Communicator communicator_;
  std::string path_;
  bool beside_ = false;
  std::string place_;                        // the directory's real path
  std::optional<FileLock> lock_, old_lock_;  // on the root: of path_, and of the run to replace
};

// Whether a directory holds results of a run.
bool holds_run(const std::string& directory);

}  // namespace octant::driver
