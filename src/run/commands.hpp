// Commands of `octant` for each model. The command line depends on this interface alone, not on
// options or kernels.
#pragma once

#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "io/hdf5_file.hpp"
#include "run/run_request.hpp"

namespace octant {

// `octant run` for the AMR model. Returns the exit code. Throws InputError before the first step,
// RunError after it. Collective.
int run_amr(const RunRequest& request);
// `octant run` for the DNS model.
int run_dns(const RunRequest& request);

// `octant run --plan`: returns the tasks of a coarse step in order, as text. Throws InputError.
// Collective.
std::string amr_plan(const RunRequest& request);

// `octant check` and `octant run --dry-run` for the AMR model: validates the input, prints a
// summary of the run with the estimated memory and cost, and with request.all the resolved
// parameters, without running it. Returns the exit code. Throws InputError. Collective.
int check_amr(const RunRequest& request);
// `octant check` for the DNS model. `ranks` are those of the run to be estimated; 0: those of this
// process.
int check_dns(const RunRequest& request, int ranks = 0);

// `octant params`: Markdown tables of all parameters of the AMR model (with those of every
// problem), or of one section. Throws InputError for an unknown section.
std::string amr_manual(const std::string& section);
// `octant params` for the DNS model.
std::string dns_manual(const std::string& section);
// Names of the sections of the AMR model.
std::vector<std::string> amr_sections();
// Names of the sections of the DNS model.
std::vector<std::string> dns_sections();

// `octant info`: describes a snapshot or checkpoint as text. Collective.
std::string describe_snapshot(const Communicator& communicator, const std::string& path);
// `octant info` for a file of the DNS model.
std::string describe_dns_snapshot(const Hdf5Reader& file);

// `octant convert`: writes a snapshot of an adaptive mesh in the named format, below a folder, and
// returns the path. A checkpoint is put into a folder named after the file, because it may have the
// state of a snapshot. Throws InputError. Collective.
std::string convert_snapshot(const Communicator& communicator, const std::string& path,
                             const std::string& format, const std::string& folder,
                             const ParameterSchema::Overrides& overrides);

}  // namespace octant
