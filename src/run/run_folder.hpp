// Directory of a run: prevents simultaneous writers and accidental overwriting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "io/files.hpp"

namespace octant {

// Use of the output directory by a run.
enum class OutputMode {
  create,   // a new run; the directory must not contain one
  replace,  // a new run; moves an existing run aside after the new run's first step
  resume    // continues the run in the directory
};

// Locks a directory during its lifetime. All functions but the const ones are collective.
class RunFolder {
 public:
  // Creates the directory if necessary. OutputMode::resume removes temporary files (.part);
  // otherwise the contents are unchanged. Throws InputError if the directory cannot be written, if
  // another process writes a run there, or if it contains a run that must not be changed.
  RunFolder(const Communicator& communicator, const std::string& directory, OutputMode mode);
  // Removes the temporary folder if commit() was not called, because the run has no results.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  // Path for the run's files: the directory, or a temporary folder next to it until commit().
  const std::string& path() const { return path_; }
  // True if files are still in the temporary folder.
  bool is_temporary() const { return temporary_; }

  // Moves the old run to DIRECTORY.old-N, and the temporary folder to its place. Open files in both
  // remain valid. Throws RunError.
  void commit();

  // Moves snapshots and cut-outs from these numbers on to a folder superseded-N, because a restart
  // from before them writes them again.
  void supersede_snapshots(std::int64_t first, std::int64_t first_cutout);

 private:
  void claim(const std::string& directory, OutputMode mode);
  void open_temporary(const std::string& directory);
  void exchange();

  Communicator communicator_;
  std::string path_;
  bool temporary_ = false;
  std::string place_;                        // real path of the directory
  std::optional<FileLock> lock_, old_lock_;  // on the root: of path_, and of the run to replace
};

// Returns true if a directory contains results of a run.
bool holds_run(const std::string& directory);

}  // namespace octant
