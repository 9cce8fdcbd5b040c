// A snapshot as formats take it, to write it once more in another one.
#pragma once

#include <string>

#include "driver/contents.hpp"
#include "driver/run_options.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// The parameters of the run that wrote a snapshot, with others in their place. Throws InputError on
// every rank if the file is no snapshot of an adaptive mesh. Collective.
AmrOptions options_of_snapshot(const Communicator& communicator, const std::string& path,
                               const ParameterSchema::Overrides& overrides);

// What it holds, shared out evenly among the ranks; read when it is asked for, by each rank for
// itself. Of particles, numbers and columns of real numbers. Collective.
MeshContents contents_of_snapshot(const Communicator& communicator, const std::string& path,
                                  const AmrOptions& options);

// Writes a snapshot in the format of this name, below a folder, and returns the path. Collective.
std::string convert_snapshot(const Communicator& communicator, const std::string& path,
                             const std::string& format, const std::string& folder,
                             const ParameterSchema::Overrides& overrides);

}  // namespace octant::driver
