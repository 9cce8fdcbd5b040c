// Command-line options of a run.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "io/input_files.hpp"

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
  // Parameter file and files that parameters name, opened by the root only.
  std::shared_ptr<InputFiles> files = std::make_shared<InputFiles>();
};

// Reads the parameters of a run, AmrOptions or DnsOptions, from its file and the command line.
// Throws InputError on every rank. Collective.
template <class Options>
Options read_options(const RunRequest& request, const Communicator& communicator) {
  Options options;
  request.files->share(communicator, [&] {
    options = Options::from_file(request.file, request.overrides, *request.files);
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
