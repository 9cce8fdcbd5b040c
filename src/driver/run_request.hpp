// What the command line says about a run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant::driver {

struct RunRequest {
  std::string file;
  std::vector<std::string> overrides;
  std::string output;   // instead of output.directory
  std::string restart;  // "", "latest" or the path of a checkpoint
  bool overwrite = false;
  bool dry_run = false;
  bool all = false;  // of `octant check`: the resolved parameters too
};

// The two halves of Octant: gas and matter on an adaptive mesh, and incompressible turbulence.
enum class ModelKind { amr, dns };
constexpr auto names_of(ModelKind) { return std::array{"amr", "dns"}; }

// Which half of Octant a parameter file asks for. Throws InputError. Collective.
ModelKind model_of(const RunRequest& request, const Communicator& communicator);

}  // namespace octant::driver
