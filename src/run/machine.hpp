// Description of the machine for the log, and creation of the recorder of a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "comm/runtime.hpp"
#include "run/debug_options.hpp"
#include "run/run.hpp"
#include "telemetry/recorder.hpp"

namespace octant {

// Machine of a run. Processors are those of the operating system, such as hardware threads of a
// core; only those available to the ranks count. For several nodes, numbers are those of the node
// with the fewest processors.
struct Machine {
  // names of the root's node and of its processor; empty if unknown
  std::string name{}, processor{};
  int ranks_per_node = 1, threads_per_rank = 1;
  int processors = 1;           // number of processors of the node
  int processors_per_rank = 1;  // fewer than those of the node if ranks are bound
  Devices devices{};            // devices of the node, for GPU execution

  // True if ranks are bound to a part of the processors.
  bool is_bound() const { return processors_per_rank < processors; }
  // Returns true if several ranks share a GPU.
  bool shares_devices() const { return devices.count > 0 && ranks_per_node > devices.count; }
  // Returns true if there are more threads than processors.
  bool is_crowded() const {
    return ranks_per_node * threads_per_rank > processors || threads_per_rank > processors_per_rank;
  }
  // Description for the log.
  std::string describe() const;
  // Returns a sentence for each oversubscribed resource, with a faster configuration.
  std::vector<std::string> warnings() const;
};

// Determines the machine; the same result on all ranks. Collective.
Machine machine_of(const Communicator& communicator);

// Node of a rank: the ranks that share its memory, or those defined by debug.ranks_per_node.
struct NodeOfRank {
  Communicator ranks;
  int number;          // nodes are numbered by their first ranks
  int ranks_per_node;  // number of ranks on the largest node
};
// Returns the node of this rank. Collective.
NodeOfRank find_node_of_rank(const Communicator& communicator, const DebugOptions& debug);

// Creates a recorder for a run's directory; null if nothing is to be recorded. Throws InputError.
// Collective.
std::unique_ptr<telemetry::Recorder> make_recorder(const Communicator& communicator,
                                                   const RunSettings& settings,
                                                   const std::string& directory, bool restart,
                                                   const Machine& machine);

}  // namespace octant
