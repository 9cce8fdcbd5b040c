// history.csv: one row per step with what the model measures.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "driver/run.hpp"

namespace octant::driver {

// Written by the root; a restart cuts the file back to the checkpoint's step and goes on.
class History {
 public:
  // Throws InputError on every rank if the file cannot be written.
  History(const Model& model, const std::string& directory);

  // Appends the present state and the step that follows from it. Throws RunError on every rank if
  // the disk is full.
  void append(const Model& model, double dt);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace octant::driver
