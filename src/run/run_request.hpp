// Command-line options of a run.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace octant {

// Exit codes of the program, part of its interface.
enum ExitCode { k_done = 0, k_failed_run = 1, k_bad_input = 2, k_stopped_early = 3 };

// Options of a run on the command line.
struct RunRequest {
  std::string file;
  std::vector<std::string> overrides;
  std::string output;   // replaces output.directory
  std::string restart;  // "", "latest" or the path of a checkpoint
  bool overwrite = false;
  bool dry_run = false;
  bool plan = false;  // print the tasks of a coarse step instead of running
  bool all = false;   // `octant check`: print the resolved parameters, too
};

// Reads the parameters of a run, AmrOptions or DnsOptions, from its file and the command line.
// Throws InputError on every rank. Collective.
template <class Options>
Options read_options(const RunRequest& request, const Communicator& communicator) {
  Options options;
  communicator.collective_try([&] {
    options = Options::from_file(request.file, request.overrides);
    if (!request.output.empty()) options.output.directory = request.output;
  });
  return options;
}

// Models of Octant: gas and matter on an adaptive mesh, and incompressible turbulence.
enum class ModelKind { amr, dns };
// Names of the values of `model`.
constexpr auto names_of(ModelKind) { return std::array{"amr", "dns"}; }

// Model selected by a parameter file. Throws InputError. Collective.
ModelKind model_of(const RunRequest& request, const Communicator& communicator);

}  // namespace octant
