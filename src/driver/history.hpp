// history.csv: one row per step with what the model measures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "driver/run.hpp"
#include "io/posix_file.hpp"

namespace octant::driver {

// Written by the root. A row that the disk has no space for waits for it, and the run goes on.
class History {
 public:
  // Begins the file. A restart goes on with the rows before the model's step that `earlier` holds:
  // the history of the run that wrote the checkpoint; they take this run's columns. The file is
  // replaced in one step. Throws RunError on every rank if it cannot be written. Collective.
  History(const Model& model, const std::string& directory, const std::string& earlier);

  // Appends the present state and the step that follows from it. Collective.
  void append(const Model& model, double dt);

  // Returns when all rows are on the disk: a checkpoint must not come ahead of the rows before it,
  // which no run would write again. Throws RunError on every rank if that fails. Collective.
  void sync(const Communicator& communicator);

 private:
  void write_waiting();

  std::string path_;
  std::optional<PosixFile> file_;  // on the root
  std::int64_t size_ = 0;          // of what is written
  std::string waiting_;
  bool complained_ = false;
};

}  // namespace octant::driver
