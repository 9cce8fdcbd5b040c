// A snapshot as formats take it, to write it once more in another one; or what a snapshot would
// show of the state in a checkpoint.
#pragma once

#include <string>

#include "driver/contents.hpp"
#include "driver/run_options.hpp"
#include "io/hdf5_file.hpp"

namespace octant::driver {

// The parameters of the run that wrote a file, with others in their place. Throws InputError on
// every rank if it is no snapshot or checkpoint of an adaptive mesh. Collective.
AmrOptions options_of_snapshot(const Communicator& communicator, const std::string& path,
                               const ParameterSchema::Overrides& overrides);

// What it holds, shared out evenly among the ranks; read when it is asked for, by each rank for
// itself. Of particles, numbers and columns of real numbers. `options` must outlive it. Collective.
MeshContents contents_of_snapshot(const Communicator& communicator, const std::string& path,
                                  const AmrOptions& options);

// Writes it in the format of this name, below a folder, and returns the path: that of a checkpoint
// lies in a folder named as the file, for it may be the state of a snapshot. Collective.
std::string convert_snapshot(const Communicator& communicator, const std::string& path,
                             const std::string& format, const std::string& folder,
                             const ParameterSchema::Overrides& overrides);

}  // namespace octant::driver
