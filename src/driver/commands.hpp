// What the commands of `octant` do, for each half of it. Whoever reads the command line sees no
// more of a run than this: no options, and no kernels.
#pragma once

#include <string>
#include <vector>

#include "core/parameters.hpp"
#include "driver/run_request.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// `octant run`. Return the exit code. Throw InputError before the first step, RunError after it.
// Collective.
int run_amr(const RunRequest& request);
int run_dns(const RunRequest& request);

// `octant check` and `octant run --dry-run`: what a run would be and need, without running it.
// Validate the input, print a summary with the estimated memory and cost, and with request.all the
// resolved parameters. Return the exit code. Throw InputError. Collective.
int check_amr(const RunRequest& request);
int check_dns(const RunRequest& request);

// `octant params`: the tables of all parameters (with those of every problem), or of one section,
// in Markdown; and the sections that there are. Throw InputError for another section.
std::string amr_manual(const std::string& section);
std::string dns_manual(const std::string& section);
std::vector<std::string> amr_sections();
std::vector<std::string> dns_sections();

// `octant info`: what a snapshot or checkpoint holds, as text. Collective.
std::string describe_snapshot(const Communicator& communicator, const std::string& path);
std::string describe_dns_snapshot(const Hdf5Reader& file);

// `octant convert`: writes a snapshot of an adaptive mesh in the format of this name, below a
// folder, and returns the path: that of a checkpoint lies in a folder named as the file, for it may
// be the state of a snapshot. Throws InputError. Collective.
std::string convert_snapshot(const Communicator& communicator, const std::string& path,
                             const std::string& format, const std::string& folder,
                             const ParameterSchema::Overrides& overrides);

}  // namespace octant::driver
