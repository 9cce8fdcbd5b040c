// Carries out `octant run` for model = "amr": outputs, run control and the loop over coarse steps.
#pragma once

#include <string>
#include <vector>

namespace octant::driver {

// What the command line says about a run.
struct RunRequest {
  std::string file;
  std::vector<std::string> overrides;
  std::string output;   // instead of output.directory
  std::string restart;  // "", "latest" or the path of a checkpoint
  bool dry_run = false;
};

// Returns the exit code. Throws InputError before the first step, RunError after it. Collective.
int run_amr(const RunRequest& request);

}  // namespace octant::driver
