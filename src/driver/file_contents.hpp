// A snapshot as formats take it, to write it once more in another one; or what a snapshot would
// show of the state in a checkpoint.
#pragma once

#include <string>

#include "driver/contents.hpp"
#include "driver/run_options.hpp"

namespace octant::driver {

// The parameters of the run that wrote a file, with others in their place. Throws InputError on
// every rank if it is no snapshot or checkpoint of an adaptive mesh. Collective.
AmrOptions options_of_snapshot(const Communicator& communicator, const std::string& path,
                               const ParameterSchema::Overrides& overrides);

// What it holds, shared out evenly among the ranks; read when it is asked for, by each rank for
// itself. Of particles, numbers and columns of real numbers. `options` must outlive it. Collective.
MeshContents contents_of_snapshot(const Communicator& communicator, const std::string& path,
                                  const AmrOptions& options);

}  // namespace octant::driver
