// Files that a run continues: its checkpoints and history.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "comm/communicator.hpp"
#include "io/files.hpp"
#include "run/run.hpp"

namespace octant {

// history.csv: one row per step with the measurements of the model. Written by the root. Rows are
// buffered while the disk is full, and the run continues.
class History {
 public:
  // Creates the file. On a restart, copies the rows before the model's step from `earlier`, the
  // history of the run that wrote the checkpoint, and converts them to this run's columns. The file
  // is replaced atomically. Throws RunError on every rank if it cannot be written. Collective.
  History(const Model& model, const std::string& directory, const std::string& earlier);

  // Appends the present state and the next time step. Collective.
  void append(const Model& model, double dt);

  // Returns when all rows are on disk. Must be called before a checkpoint is written: a run that
  // restarts from it does not write earlier rows again. Throws RunError on every rank on failure.
  // Collective.
  void sync(const Communicator& communicator);

 private:
  void write_waiting();

  std::string path_;
  std::optional<PosixFile> file_;  // on the root
  std::int64_t size_ = 0;          // bytes written
  std::string waiting_;
  bool complained_ = false;
};

// Returns the checkpoint for --restart: `requested` is a path, or "latest" for the newest complete
// one in the directory. Throws InputError with the available checkpoints if there is none.
// Collective.
std::string find_checkpoint(const Communicator& communicator, const std::string& requested,
                            const std::string& directory);

// Throws InputError if the directory has a run with another newest checkpoint: continuing from
// `path` would mix two runs. Collective.
void require_newest_checkpoint(const Communicator& communicator, const std::string& path,
                               const std::string& directory);

// Restarts the model from a checkpoint. Throws InputError on every rank on failure; for a damaged
// file, the message names the previous checkpoint. Collective.
OutputProgress read_checkpoint(Model& model, const std::string& path);

// Removes all but the `keep` newest checkpoints. On the root.
void remove_old_checkpoints(const std::string& directory, int keep);

}  // namespace octant
