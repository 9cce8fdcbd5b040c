// The checkpoint files of a run's directory.
#pragma once

#include <string>

#include "comm/communicator.hpp"
#include "driver/run.hpp"

namespace octant::driver {

// The checkpoint that --restart names: `wish` is a path, or "latest" for the newest whole one in
// the directory. Throws InputError, which lists the checkpoints that are there, if there is none.
// Collective.
std::string find_checkpoint(const Communicator& communicator, const std::string& wish,
                            const std::string& directory);

// Throws InputError if the directory holds a run whose newest checkpoint is another one: to go on
// from `path` there would mix two courses. Collective.
void require_newest_checkpoint(const Communicator& communicator, const std::string& path,
                               const std::string& directory);

// Makes the model go on from a checkpoint. Throws InputError on every rank if it cannot; if that is
// because the file is damaged, the message names the checkpoint before it. Collective.
OutputProgress read_checkpoint(Model& model, const std::string& path);

// Removes all but the newest checkpoints. On the root.
void remove_old_checkpoints(const std::string& directory, int keep);

}  // namespace octant::driver
