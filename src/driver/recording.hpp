// Sets up the recorder of a run, and who shares a node with whom.
#pragma once

#include <memory>

#include "comm/communicator.hpp"
#include "driver/debug_options.hpp"
#include "driver/machine.hpp"
#include "driver/run.hpp"
#include "telemetry/recorder.hpp"

namespace octant::driver {

// A rank's node: the ranks that share its memory, or those that debug.ranks_per_node puts there.
struct NodePlace {
  Communicator ranks;
  int number;          // of the node, counted by its first ranks
  int ranks_per_node;  // of the largest node
};
NodePlace place_on_node(const Communicator& communicator, const DebugOptions& debug);

// Records into a run's directory. Null if nothing is to be recorded. Throws InputError.
// Collective.
std::unique_ptr<telemetry::Recorder> make_recorder(const Communicator& communicator,
                                                   const RunSettings& settings,
                                                   const std::string& directory, bool restart,
                                                   const Machine& machine);

}  // namespace octant::driver
